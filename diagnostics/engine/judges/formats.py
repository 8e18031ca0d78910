"""Which judges look at which kind of evidence, and the fault families that a look speaks for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.judges import bmc, fabric, gpu, machine_checks, pcie, probes, redfish, signatures, storage, xids
from diagnostics.engine.types import Check, Observation
from incidents.domain import faults

Judge = Callable[..., list[Observation]]


@dataclass(frozen=True, slots=True)
class Format:
    """`gaps` finds what the evidence itself says could not be read; `unread` is why this kind cannot be judged in full."""

    name: str
    judges: tuple[Judge, ...]
    families: Callable[[], tuple[str, ...]]
    gaps: Callable[[Any], list[Check]] = lambda payload: []
    unread: str = ""


def _of(*families: str) -> Callable[[], tuple[str, ...]]:
    return lambda: families


@lru_cache(maxsize=1)
def log_families() -> tuple[str, ...]:
    """Every family that a signature or an Xid can name."""
    named = {signature.family for signature in catalog.signatures()}
    named |= {faults.family_of(xid.fault) for xid in faults.all_xids()}
    named |= {faults.family_of(code) for code in ("gpu.nvswitch.error", "host.cpu.mce", "host.memory.correctable")}
    return tuple(sorted(named))


_LOG_JUDGES: tuple[Judge, ...] = (signatures.judge, xids.judge, machine_checks.judge)

# A bug report holds the tables of many tools and the kernel's log in one text: whatever kind it is taken for, the log is looked at.
FORMATS: dict[str, Format] = {
    "log": Format("system log", _LOG_JUDGES, log_families, gaps=xids.gaps),
    "text": Format("text", _LOG_JUDGES, log_families),
    "job-log": Format(
        "job log", _LOG_JUDGES, _of(), unread="job logs are not analysed yet; only lines of the system were looked for"
    ),
    "sickbay.nvml": Format(
        "NVML",
        (probes.nvml,),
        _of(
            "gpu.presence",
            "gpu.memory",
            "gpu.thermal",
            "gpu.power",
            "gpu.nvlink",
            "gpu.mig",
            "gpu.firmware",
            "gpu.pcie",
        ),
        gaps=probes.nvml_gaps,
    ),
    "sickbay.disk": Format("file systems", (probes.disk,), _of("os.space", "host.storage")),
    "sickbay.memory": Format("memory", (probes.memory,), _of("host.memory", "os.memory")),
    "nvidia-smi": Format(
        "nvidia-smi",
        (gpu.settings, *_LOG_JUDGES),
        _of("gpu.presence", "gpu.memory", "gpu.thermal", "gpu.power", "gpu.mig", "gpu.firmware"),
    ),
    "nvidia-smi-table": Format(
        "nvidia-smi table",
        _LOG_JUDGES,
        _of("gpu.presence"),
        unread="the table shows no row remapping, throttling or links; give the output of nvidia-smi -q as well",
    ),
    "nvlink": Format("nvidia-smi nvlink", (gpu.links, *_LOG_JUDGES), _of("gpu.nvlink")),
    "dcgm-diag": Format("dcgmi diag", (gpu.diagnostic,), _of("gpu.diagnostic", "gpu.memory", "gpu.thermal")),
    "ipmi-sel": Format(
        "BMC event log",
        (bmc.event_log,),
        _of("host.memory", "host.cooling", "host.power", "host.board", "host.security"),
    ),
    "ipmi-sensors": Format("BMC sensors", (bmc.sensor_table,), _of("host.cooling", "host.power", "host.board")),
    "ipmi-sel-info": Format("BMC event log size", (bmc.sel_info,), _of("bmc.log")),
    "redfish": Format("Redfish", (redfish.judge,), _of("host.cooling", "host.power", "host.board")),
    "smart": Format("SMART", (storage.smart,), _of("host.storage")),
    "ibstat": Format(
        "InfiniBand ports", (fabric.ports, *_LOG_JUDGES), _of("fabric.link", "fabric.adapter", "fabric.control")
    ),
    "ibqueryerrors": Format("InfiniBand counters", (fabric.errors,), _of("fabric.link")),
    "lspci": Format("PCI devices", (pcie.links, *_LOG_JUDGES), _of("gpu.pcie")),
}
