"""Memory as the kernel counts it: sizes, out-of-memory kills, pressure, corrected and uncorrected errors per DIMM."""

import json
import re
from contextlib import suppress
from typing import Any

from diagnostics.probes.base import Captured, Context, ProbeOutput, ProbeSpec, could_not_check, found, not_supported

EDAC = "/sys/devices/system/edac/mc"
DEADLINE_SECONDS = 10.0


def read(context: Context) -> ProbeOutput:
    try:
        meminfo = context.transport.read("/proc/meminfo").decode("ascii", "replace")
    except FileNotFoundError:
        return not_supported("This machine has no /proc/meminfo.")
    except OSError as error:
        return could_not_check(f"/proc/meminfo could not be read: {error.strerror}.")
    document = {
        "schema": "sickbay.memory/1",
        "meminfo": {name: int(value) for name, value in re.findall(r"^(\S+):\s+(\d+)", meminfo, re.MULTILINE)},
        "oom_kills": _oom_kills(context),
        "edac": _edac(context),
        "pressure": _pressure(context),
    }
    return found(Captured("memory.json", "application/json", json.dumps(document, indent=1).encode()))


def _oom_kills(context: Context) -> int | None:
    """Since the machine started; None where the kernel does not count them."""
    match = re.search(r"^oom_kill (\d+)", _text(context, "/proc/vmstat"), re.MULTILINE)
    return int(match[1]) if match else None


def _edac(context: Context) -> list[dict[str, Any]]:
    """One row per DIMM, or per controller where the kernel names none."""
    rows = []
    for controller in context.transport.names(EDAC):
        if not re.fullmatch(r"mc\d+", controller):
            continue
        dimms = [
            name for name in context.transport.names(f"{EDAC}/{controller}") if re.fullmatch(r"(dimm|rank)\d+", name)
        ]
        for dimm in dimms:
            folder = f"{EDAC}/{controller}/{dimm}"
            label = _text(context, f"{folder}/dimm_label").strip() or dimm
            rows.append(_counts(context, controller, label, f"{folder}/dimm_ce_count", f"{folder}/dimm_ue_count"))
        if not dimms:
            folder = f"{EDAC}/{controller}"
            rows.append(_counts(context, controller, "", f"{folder}/ce_count", f"{folder}/ue_count"))
    return rows


def _counts(context: Context, controller: str, dimm: str, corrected: str, uncorrected: str) -> dict[str, Any]:
    return {"mc": controller, "dimm": dimm, "ce": _number(context, corrected), "ue": _number(context, uncorrected)}


def _pressure(context: Context) -> dict[str, dict[str, float]]:
    """`{"some": {"avg10": percent, ...}, "full": ...}`; empty where the kernel has no pressure accounting."""
    lines = _text(context, "/proc/pressure/memory").splitlines()
    return {
        line.split(" ", 1)[0]: {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", line)}
        for line in lines
    }


def _number(context: Context, path: str) -> int | None:
    with suppress(ValueError):
        return int(_text(context, path))
    return None


def _text(context: Context, path: str) -> str:
    """The file, or nothing where it cannot be read."""
    with suppress(OSError):
        return context.transport.read(path).decode("utf-8", "replace")
    return ""


SPEC = ProbeSpec(
    id="memory",
    version="1",
    title="Memory",
    families=("host.memory", "os.memory"),
    deadline_seconds=DEADLINE_SECONDS,
    run=read,
)
