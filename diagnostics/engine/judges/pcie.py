"""PCIe links as lspci shows them."""

from diagnostics.engine.judges import components
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import lspci
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation


def links(log: Log, *, source_name: str) -> list[Observation]:
    """A GPU with fewer lanes than it and its slot can have. Its speed says nothing: an idle link slows down."""
    found = lspci.devices(log.text)
    slots = {device.secondary_bus: device for device in found if device.secondary_bus}
    narrow = []
    for device in found:
        slot = slots.get(device.bus)
        possible = min(device.most_width, slot.most_width) if slot and slot.most_width else device.most_width
        if "NVIDIA" in device.what and "controller" in device.what and device.width and device.width < possible:
            number, raw = device.link_line
            narrow.append(
                Observation(
                    "gpu.pcie.degraded", EvidenceLine(number, raw), source_name, component=components.pci(device.pci),
                    confidence="high" if slot else "medium", order=number,
                )
            )  # fmt: skip
    return narrow


FORMATS = {"lspci": Format("PCI devices", (links,), of("gpu.pcie"), has_log=True)}
