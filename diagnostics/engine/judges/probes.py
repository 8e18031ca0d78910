"""The documents of our own probes: what NVML, the file systems and the memory of a node say."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from diagnostics.engine import catalog, components
from diagnostics.engine.judges import space
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.space import Space
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.types import Check, Confidence, EvidenceLine, Observation, Role

# Which family cannot be judged when a field of NVML could not be read.
_FIELD_FAMILIES = {
    "temperature_c": "gpu.thermal", "slowdown_c": "gpu.thermal", "shutdown_c": "gpu.thermal", "ecc": "gpu.memory",
    "remapped": "gpu.memory", "clocks_event_reasons": "gpu.thermal", "pcie": "gpu.pcie", "power_w": "gpu.power",
    "power_limit_w": "gpu.power", "recovery_action": "gpu.firmware", "mig": "gpu.mig", "nvlinks": "gpu.nvlink",
}  # fmt: skip
_NOT_A_GAP = ("not supported", "not_supported", "notsupported", "not available on this")


class Gpu(NamedTuple):
    """One GPU of the document with what is needed to point at its lines."""

    document: JsonText
    source_name: str
    row: dict[str, Any]
    component: str
    anchor: str

    def says(
        self, fault: str, key: str, *, role: Role = "root", confidence: Confidence = "high", **more: Any
    ) -> Observation:
        line = self.document.locate(key, after=self.anchor)
        return Observation(
            fault,
            line,
            self.source_name,
            role=role,
            component=self.component,
            confidence=confidence,
            order=line.number,
            **more,
        )


def nvml(document: JsonText, *, source_name: str) -> list[Observation]:
    found = list(_count(document, source_name))
    for row in _rows(document.value, "gpus"):
        gpu = _gpu(document, source_name, row)
        if row.get("lost"):
            found.append(_lost(gpu))
            continue
        for check in _GPU_CHECKS:
            found += check(gpu)
    return found


def nvml_gaps(document: JsonText) -> list[Check]:
    """What NVML would not tell, GPU by GPU. "Not supported" is an answer, no gap."""
    gaps = []
    for row in _rows(document.value, "gpus"):
        for field, reason in _table(row, "errors").items():
            if row.get("lost") or str(reason).lower().startswith(_NOT_A_GAP):
                continue
            family = _FIELD_FAMILIES.get(str(field).split(".")[0], "gpu.presence")
            gaps.append(Check(f"NVML {field} of GPU {row.get('index')}", (family,), "could_not_check", str(reason)))
    return gaps


def _count(document: JsonText, source_name: str) -> Iterator[Observation]:
    expected, seen = document.value.get("expected_gpus"), len(_rows(document.value, "gpus"))
    if isinstance(expected, int) and expected > seen:
        yield Observation(
            "gpu.count_mismatch",
            document.locate("expected_gpus"),
            source_name,
            detail=f"{seen} of {expected} GPUs are there",
        )


def _gpu(document: JsonText, source_name: str, row: dict[str, Any]) -> Gpu:
    address = components.pci(str(row.get("pci") or ""), board=True)
    return Gpu(
        document, source_name, row, address or f"GPU {row.get('index')}", str(row.get("uuid") or row.get("pci") or "")
    )


def _lost(gpu: Gpu) -> Observation:
    wants_reset = any("reset" in str(reason).lower() for reason in _table(gpu.row, "errors").values())
    return gpu.says("gpu.lost" if wants_reset else "gpu.off_bus", "lost")


def _temperature(gpu: Gpu) -> Iterator[Observation]:
    now, slowdown, shutdown = (_number(gpu.row, key) for key in ("temperature_c", "slowdown_c", "shutdown_c"))
    if now is None:
        return
    if shutdown and now >= shutdown:
        yield gpu.says("gpu.thermal.shutdown", "temperature_c", detail=f"{now:g} C, shutdown at {shutdown:g} C")
    elif slowdown and now >= slowdown:
        yield gpu.says("gpu.thermal.slowdown", "temperature_c", detail=f"{now:g} C, slowdown at {slowdown:g} C")


def _clocks(gpu: Gpu) -> Iterator[Observation]:
    bits, limits = int(_number(gpu.row, "clocks_event_reasons") or 0), catalog.thresholds()["gpu"]
    if bits & limits["thermal_bits"]:
        yield gpu.says("gpu.thermal.slowdown", "clocks_event_reasons", detail=f"clocks event reasons {bits:#x}")
    if bits & limits["power_brake_bit"]:
        yield gpu.says("gpu.power.brake", "clocks_event_reasons", detail=f"clocks event reasons {bits:#x}")
    elif bits & limits["hardware_slowdown_bit"] and not bits & limits["thermal_bits"]:
        yield gpu.says(
            "gpu.clocks.low",
            "clocks_event_reasons",
            role="note",
            confidence="low",
            detail="hardware slowdown, no cause given",
        )


def _ecc(gpu: Gpu) -> Iterator[Observation]:
    ecc = _table(gpu.row, "ecc")
    volatile, aggregate = _table(ecc, "volatile"), _table(ecc, "aggregate")
    if uncorrected := _number(volatile, "uncorrected"):
        yield gpu.says("gpu.ecc.uncorrectable", "uncorrected", detail=f"{uncorrected:g} since the last reset")
    elif uncorrected := _number(aggregate, "uncorrected"):
        yield gpu.says(
            "gpu.ecc.uncorrectable",
            "aggregate",
            role="note",
            detail=f"{uncorrected:g} in its life, none since the last reset",
        )
    if (_number(volatile, "corrected") or 0) >= catalog.thresholds()["gpu"]["dram_corrected_storm"]:
        yield gpu.says("gpu.ecc.correctable_storm", "corrected")


def _remapped(gpu: Gpu) -> Iterator[Observation]:
    remapped = _table(gpu.row, "remapped")
    too_many = (_number(remapped, "uncorrectable") or 0) >= catalog.thresholds()["gpu"]["retire_rows_uncorrectable"]
    if remapped.get("failed") or too_many:
        yield gpu.says("gpu.row_remap.failed", "failed" if remapped.get("failed") else "remapped")
    elif remapped.get("pending"):
        yield gpu.says("gpu.row_remap.pending", "pending")


def _recovery(gpu: Gpu) -> Iterator[Observation]:
    action = catalog.thresholds()["gpu"]["recovery_actions"].get(str(gpu.row.get("recovery_action")))
    if action:
        yield gpu.says("gpu.reset_required", "recovery_action", action=action, authorities={"driver": action})


def _mig(gpu: Gpu) -> Iterator[Observation]:
    mig = _table(gpu.row, "mig")
    if None not in (mig.get("current"), mig.get("pending")) and mig["current"] != mig["pending"]:
        yield gpu.says("gpu.mig.misconfigured", "mig", detail="a change of the MIG mode waits for a reset")


def _links(gpu: Gpu) -> Iterator[Observation]:
    """Some links up and some down is a fault; none up is a board without a bridge, or one that has just started."""
    links = _rows(gpu.row, "nvlinks")
    down = [str(link.get("link")) for link in links if link.get("active") is False]
    if down and len(down) < len(links):
        yield gpu.says(
            "gpu.nvlink.error", "nvlinks", detail=f"link {', '.join(down)} down, {len(links) - len(down)} up"
        )


def _pcie(gpu: Gpu) -> Iterator[Observation]:
    """Only a note: an idle link saves power, and the slot may have fewer lanes than the card."""
    pcie = _table(gpu.row, "pcie")
    width, most = _number(pcie, "width"), _number(pcie, "width_max")
    if width and most and width < most:
        yield gpu.says("gpu.pcie.degraded", "width", role="note", confidence="low", detail=f"x{width:g} of x{most:g}")


_GPU_CHECKS: tuple[Callable[[Gpu], Iterator[Observation]], ...] = (
    _temperature, _clocks, _ecc, _remapped, _recovery, _mig, _links, _pcie,
)  # fmt: skip


def disk(document: JsonText, *, source_name: str) -> list[Observation]:
    writable = set(document.value.get("expected_writable") or ())
    rows = _rows(document.value, "filesystems")
    found = []
    for row, words in zip(rows, space.fullness([_space(row, writable) for row in rows]), strict=True):
        anchor, mount = f'"{row.get("mount")}"', str(row.get("mount"))
        if row.get("read_only") and mount in writable:
            line = _near(document, anchor, "read_only")
            found.append(Observation("host.fs.readonly", line, source_name, component=mount, order=line.number))
        if words:
            line = _near(document, anchor, "mount")
            found.append(
                Observation("os.disk_full", line, source_name, component=mount, detail=words, order=line.number)
            )
    return found


def _space(row: dict[str, Any], writable: set[str]) -> Space:
    size, used, available, inodes, inodes_used = (
        _number(row, key) for key in ("size", "used", "available", "inodes", "inodes_used")
    )
    mount = str(row.get("mount"))
    return Space(
        mount, str(row.get("type") or ""), str(row.get("device") or ""), size, available=available,
        share=space.used_share(size, available, used=used),
        inodes_share=inodes_used / inodes if inodes and inodes_used is not None else None,
        read_only=bool(row.get("read_only")), is_needed=mount in writable,
    )  # fmt: skip


def memory(document: JsonText, *, source_name: str) -> list[Observation]:
    found = list(_edac(document, source_name))
    meminfo, limits = _table(document.value, "meminfo"), catalog.thresholds()["memory"]
    total, available = _number(meminfo, "MemTotal"), _number(meminfo, "MemAvailable")
    if total and available is not None and available < total * limits["available_share_low"]:
        line = document.locate("MemAvailable")
        found.append(
            Observation(
                "os.oom_kill",
                line,
                source_name,
                confidence="low",
                detail=f"{available / total:.1%} of the memory is left",
            )
        )
    if kills := _number(document.value, "oom_kills"):
        line = document.locate("oom_kills")
        found.append(
            Observation("os.oom_kill", line, source_name, role="note", count=int(kills), detail="killed since boot")
        )
    return found


def _edac(document: JsonText, source_name: str) -> Iterator[Observation]:
    storm = catalog.thresholds()["memory"]["edac_storm"]
    for row in _rows(document.value, "edac"):
        label = str(row.get("dimm") or row.get("mc"))
        line = _near(document, f'"{label}"', "dimm")
        corrected, uncorrected = int(_number(row, "ce") or 0), int(_number(row, "ue") or 0)
        if uncorrected:
            yield Observation(
                "host.memory.uncorrectable", line, source_name, component=label, count=uncorrected, order=line.number
            )
        if corrected:
            fault = "host.memory.correctable_storm" if corrected >= storm else "host.memory.correctable"
            yield Observation(fault, line, source_name, component=label, count=corrected, order=line.number)


def _near(document: JsonText, anchor: str, key: str) -> EvidenceLine:
    """The line of `key` in the object that `anchor` stands in."""
    start = document.text.rfind("{", 0, max(document.text.find(anchor), 0))
    return JsonText(document.text, None).locate(key, after=document.text[start : start + 40] if start >= 0 else anchor)


def _rows(value: Any, key: str) -> list[dict[str, Any]]:
    rows = value.get(key) if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _table(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _number(value: dict[str, Any], key: str) -> float | None:
    found = value.get(key)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


FORMATS = {
    "sickbay.nvml": Format(
        "NVML", (nvml,),
        of("gpu.presence", "gpu.memory", "gpu.thermal", "gpu.power", "gpu.nvlink", "gpu.mig", "gpu.firmware", "gpu.pcie"),
        gaps=nvml_gaps,
    ),
    "sickbay.disk": Format("file systems", (disk,), of("os.space", "host.storage")),
    "sickbay.memory": Format("memory", (memory,), of("host.memory", "os.memory")),
}  # fmt: skip
