"""PCIe devices as lspci shows them: gone from the bus, without address space, on too few lanes, with errors kept in their registers."""

from collections.abc import Iterator

from diagnostics.engine import components
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import lspci
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.lspci import Device, Line
from diagnostics.engine.types import Check, Confidence, EvidenceLine, Observation, Role
from incidents.domain.hardware import PartFacts

# Uncorrectable errors of the link itself. The others (unsupported request, completion abort, surprise down of an empty slot) are
# left by a normal start.
_LINK_ERRORS = frozenset(["DLP", "TLP", "FCP", "RxOF", "MalfTLP", "ECRC"])
_CORRECTED = frozenset(["RxErr", "BadTLP", "BadDLLP", "Rollover"])


def devices(log: Log, *, source_name: str) -> list[Observation]:
    found = lspci.devices(log.text)
    slots = {device.bus_below: device for device in found if device.bus_below}
    seen: list[Observation] = []
    for device in found:
        if device.is_gone and not device.is_virtual:
            seen.append(_gone(device, source_name))
            continue
        seen += _space(device, source_name)
        seen += _width(device, slots.get(device.bus), source_name)
        seen += _errors(device, source_name)
    return seen


def parts(log: Log) -> list[PartFacts]:
    """The GPUs, with the line and the driver of each, so that they can be counted against what the driver lists."""
    return [
        PartFacts(
            "gpu", "", pci_address=components.pci(device.pci, board=True) or device.pci,
            attributes={"line": device.line[0], "text": device.line[1], "driver": device.driver},
        )
        for device in lspci.devices(log.text)
        if device.is_gpu and not device.is_virtual
    ]  # fmt: skip


def gaps(log: Log) -> list[Check]:
    """Without root's rights lspci hides the link and the registers."""
    if "Capabilities: <access denied>" not in log.text:
        return []
    return [Check("PCI devices", ("gpu.pcie", "host.pcie"), "could_not_check", "Capabilities: <access denied>")]


def _gone(device: Device, source_name: str) -> Observation:
    if device.is_nvswitch:
        return _says(
            "gpu.nvswitch.error", device, device.line, source_name, confidence="medium", detail="gone from the bus"
        )
    if "NVIDIA" in device.what:
        return _says("gpu.off_bus", device, device.line, source_name, board=True)
    return _says("host.pcie.link_down", device, device.line, source_name)


def _space(device: Device, source_name: str) -> Iterator[Observation]:
    if device.is_gpu and device.no_space_line:
        yield _says("gpu.pcie.bar_space", device, device.no_space_line, source_name)


def _width(device: Device, slot: Device | None, source_name: str) -> Iterator[Observation]:
    """Fewer lanes than it and its slot can have. Its speed says nothing: an idle link slows down."""
    fault = "gpu.pcie.degraded" if device.is_gpu else "fabric.rate_degraded" if device.is_rdma_adapter and slot else ""
    possible = min(device.most_width, slot.most_width) if slot and slot.most_width else device.most_width
    if fault and device.width and device.width < possible:
        yield _says(
            fault, device, device.link_line, source_name, confidence="high" if slot else "medium",
            detail=f"x{device.width} of x{possible}",
        )  # fmt: skip


def _errors(device: Device, source_name: str) -> Iterator[Observation]:
    """The registers keep what happened since the start, so they tell no time."""
    severe = device.bits.get("UESta", frozenset()) & _LINK_ERRORS - device.bits.get("UEMsk", frozenset())
    if severe:
        detail = f"{', '.join(sorted(severe))} since the start"
        yield _says(
            "host.pcie.fatal", device, device.bit_lines["UESta"], source_name, confidence="medium", detail=detail
        )
    elif "FatalErr" in device.bits.get("DevSta", frozenset()):
        line = device.bit_lines["DevSta"]
        yield _says(
            "host.pcie.fatal", device, line, source_name, confidence="medium", detail="a fatal error since the start"
        )
    if device.bits.get("CESta", frozenset()) & _CORRECTED:
        yield _says("host.pcie.correctable", device, device.bit_lines["CESta"], source_name, role="note")


def _says(
    fault: str, device: Device, line: Line, source_name: str, *, role: Role = "root", confidence: Confidence = "high", detail: str = "",
    board: bool = False,
) -> Observation:  # fmt: skip
    number, raw = line
    return Observation(
        fault, EvidenceLine(number, raw), source_name, role=role, component=components.pci(device.pci, board=board),
        confidence=confidence, detail=detail, order=number,
    )  # fmt: skip


FORMATS = {
    "lspci": Format("PCI devices", (devices,), of("gpu.pcie", "host.pcie"), has_log=True, gaps=gaps, parts=parts)
}
