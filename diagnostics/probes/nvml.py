"""GPUs as the driver's management library sees them. The only file that imports `pynvml`."""

import json
from collections.abc import Callable
from typing import Any

import pynvml

from diagnostics.probes.base import (
    Captured,
    Context,
    ProbeOutput,
    ProbeSpec,
    Transport,
    could_not_check,
    found,
    not_supported,
)

SCHEMA = "sickbay.nvml/1"
DEADLINE_SECONDS = 30.0
PCI_DEVICES = "/sys/bus/pci/devices"
NVIDIA = "0x10de"
DISPLAY_CLASSES = ("0x0300", "0x0302")  # VGA and 3D controllers
ABSENT = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
LOST = (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_UNKNOWN)
# What a model does not have is no error of the device.
NOT_THERE = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, pynvml.NVML_ERROR_NO_DATA)
LONGEST_REASON = 200


def read(context: Context) -> ProbeOutput:
    """A machine without an NVIDIA GPU is not supported; one whose GPUs cannot be asked could not be checked."""
    recorded = context.transport.recorded("nvml.json")
    if recorded is not None:
        return _evidence(recorded)
    if not context.transport.is_here:
        return not_supported("The GPUs of this node cannot be asked on this way.")
    on_the_bus = gpus_on_the_bus(context.transport)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return _without_library(error, on_the_bus, context.expected_gpus)
    try:
        document = {
            "schema": SCHEMA,
            "driver": _plain(pynvml.nvmlSystemGetDriverVersion()),
            "expected_gpus": max(context.expected_gpus or 0, len(on_the_bus)) or None,
            "gpus": [gpu(index) for index in range(pynvml.nvmlDeviceGetCount())],
        }
    except pynvml.NVMLError as error:
        return could_not_check(f"The NVIDIA driver does not answer: {error}.")
    finally:
        _shut_down()
    return _evidence(json.dumps(document, indent=1).encode())


def gpus_on_the_bus(transport: Transport) -> tuple[str, ...]:
    """PCI addresses of NVIDIA GPUs, whether a driver has them or not."""
    return tuple(address for address in transport.names(PCI_DEVICES) if _is_gpu(transport, f"{PCI_DEVICES}/{address}"))


def gpu(index: int) -> dict[str, Any]:
    """One GPU; every field that could not be read is None, with the reason in `errors` unless the model has no such thing."""
    errors: dict[str, str] = {}
    facts: dict[str, Any] = {"index": index, "lost": False, "errors": errors}
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    except pynvml.NVMLError as error:
        errors["handle"] = _words(error)
        return {**facts, "lost": _number(error) in LOST}
    for name, ask in FIELDS.items():
        try:
            facts[name] = ask(handle)
        except pynvml.NVMLError as error:
            facts[name] = None
            facts["lost"] = facts["lost"] or _number(error) == pynvml.NVML_ERROR_GPU_IS_LOST
            if _number(error) not in NOT_THERE:
                errors[name] = _words(error)
    # A GPU that fell off the bus answers UNKNOWN to everything.
    facts["lost"] = facts["lost"] or (len(errors) > len(FIELDS) // 2 and facts["temperature_c"] is None)
    return facts


def _pci(handle: Any) -> str:
    """As the kernel prints it: four digits of domain, lower case."""
    domain, _, rest = _plain(pynvml.nvmlDeviceGetPciInfo(handle).busId).lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _threshold(kind: int) -> Callable[[Any], int]:
    return lambda handle: pynvml.nvmlDeviceGetTemperatureThreshold(handle, kind)


def _ecc(handle: Any) -> dict[str, dict[str, int]]:
    count = pynvml.nvmlDeviceGetTotalEccErrors
    return {
        name: {
            "corrected": count(handle, pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, span),
            "uncorrected": count(handle, pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, span),
        }
        for name, span in (("volatile", pynvml.NVML_VOLATILE_ECC), ("aggregate", pynvml.NVML_AGGREGATE_ECC))
    }


def _remapped(handle: Any) -> dict[str, int | bool]:
    correctable, uncorrectable, pending, failed = pynvml.nvmlDeviceGetRemappedRows(handle)
    return {
        "correctable": correctable,
        "uncorrectable": uncorrectable,
        "pending": bool(pending),
        "failed": bool(failed),
    }


def _clocks_event_reasons(handle: Any) -> int:
    try:
        return pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
    except pynvml.NVMLError as error:
        if _number(error) != pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            raise
        return pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)  # its name before driver 535


def _pcie(handle: Any) -> dict[str, int]:
    return {
        "gen": pynvml.nvmlDeviceGetCurrPcieLinkGeneration(handle),
        "gen_max": pynvml.nvmlDeviceGetMaxPcieLinkGeneration(handle),
        "width": pynvml.nvmlDeviceGetCurrPcieLinkWidth(handle),
        "width_max": pynvml.nvmlDeviceGetMaxPcieLinkWidth(handle),
        "replay": pynvml.nvmlDeviceGetPcieReplayCounter(handle),
    }


def _recovery_action(handle: Any) -> int | None:
    """0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset; None before driver 550."""
    value = pynvml.nvmlDeviceGetFieldValues(handle, [pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION])[0]
    return value.value.uiVal if value.nvmlReturn == pynvml.NVML_SUCCESS else None


def _mig(handle: Any) -> dict[str, bool]:
    current, pending = pynvml.nvmlDeviceGetMigMode(handle)
    return {"current": bool(current), "pending": bool(pending)}


def _nvlinks(handle: Any) -> list[dict[str, int | bool]]:
    """The links that this model has."""
    links: list[dict[str, int | bool]] = []
    for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
        try:
            links.append({"link": link, "active": bool(pynvml.nvmlDeviceGetNvLinkState(handle, link))})
        except pynvml.NVMLError as error:
            if _number(error) == pynvml.NVML_ERROR_GPU_IS_LOST:
                raise
            break
    return links


FIELDS: dict[str, Callable[[Any], Any]] = {
    "uuid": lambda handle: _plain(pynvml.nvmlDeviceGetUUID(handle)),
    "serial": lambda handle: _plain(pynvml.nvmlDeviceGetSerial(handle)),
    "pci": _pci,
    "name": lambda handle: _plain(pynvml.nvmlDeviceGetName(handle)),
    "temperature_c": lambda handle: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
    "slowdown_c": _threshold(pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
    "shutdown_c": _threshold(pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
    "ecc": _ecc,
    "remapped": _remapped,
    "clocks_event_reasons": _clocks_event_reasons,
    "pcie": _pcie,
    "power_w": lambda handle: pynvml.nvmlDeviceGetPowerUsage(handle) / 1000,
    "power_limit_w": lambda handle: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000,
    "recovery_action": _recovery_action,
    "mig": _mig,
    "nvlinks": _nvlinks,
}


def _without_library(error: Any, on_the_bus: tuple[str, ...], expected: int | None) -> ProbeOutput:
    if _number(error) not in ABSENT:
        return could_not_check(f"The NVIDIA driver does not answer: {error}.")
    if on_the_bus or expected:
        where = f"GPUs on the PCI bus: {', '.join(on_the_bus)}" if on_the_bus else f"{expected} GPUs are expected"
        return could_not_check(f"The NVIDIA driver is not loaded or its library is missing ({error}), though: {where}.")
    return not_supported("No NVIDIA driver and no NVIDIA GPU on this machine.")


def _evidence(data: bytes) -> ProbeOutput:
    return found(Captured("nvml.json", "application/json", data))


def _is_gpu(transport: Transport, folder: str) -> bool:
    try:
        vendor, kind = (transport.read(f"{folder}/{name}").decode("ascii", "replace") for name in ("vendor", "class"))
    except OSError:
        return False
    return vendor.strip() == NVIDIA and kind.startswith(DISPLAY_CLASSES)


def _shut_down() -> None:
    try:
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return  # what was read is read


def _number(error: Any) -> int:
    return int(getattr(error, "value", pynvml.NVML_ERROR_UNKNOWN))


def _words(error: Any) -> str:
    return str(error)[:LONGEST_REASON]


def _plain(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


FAMILIES = (
    "gpu.presence", "gpu.memory", "gpu.nvlink", "gpu.firmware", "gpu.thermal", "gpu.power", "gpu.pcie", "gpu.mig", "gpu.driver",
)  # fmt: skip

SPEC = ProbeSpec(
    id="nvml",
    version="1",
    title="GPUs",
    families=FAMILIES,
    deadline_seconds=DEADLINE_SECONDS,
    run=read,
)
