"""GPUs as DCGM's tools see them. Which message means which fault is data: catalog/dcgm_errors.csv."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.judges import components, gpu_peers, gpu_samples
from diagnostics.engine.judges.gpu_speaker import Speaker, limits_of_gpu
from diagnostics.engine.parsers import dcgm as parser
from diagnostics.engine.parsers.dcgm import Cell, LinkRow
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import EvidenceLine, Observation
from incidents.domain import faults
from incidents.domain.hardware import PartFacts

_GPU = re.compile(r"GPU(?:s|Id)?:?\s?(\d+)")
_XID = re.compile(r"XID:?\s?(\d{1,3})\b", re.IGNORECASE)
_FAILED = re.compile(r"\s*(?:GPU\s?(?P<gpu>\d+): )?Fail\b(?: - GPUs?: (?P<gpus>[\d, ]+))?")
_IN_USE = re.compile(r"busy or unavailable", re.IGNORECASE)
_SAID = 300

# dcgmi health: the system that is unwell, where its message is not known.
_SYSTEMS = {
    "pcie": "gpu.pcie.replay", "nvlink": "gpu.nvlink.error", "pmu": "gpu.microcontroller", "mcu": "gpu.microcontroller",
    "inforom": "gpu.config", "thermal": "gpu.thermal.slowdown", "power": "gpu.power.cap", "memory": "gpu.ecc.uncorrectable",
    "driver": "gpu.driver.mismatch", "nvswitch non-fatal": "gpu.nvswitch.nonfatal", "nvswitch fatal": "gpu.nvswitch.error",
    "nvswitch": "gpu.nvswitch.error", "sm": "gpu.diag.failed", "all": "gpu.diag.failed",
}  # fmt: skip
_SYSTEM = re.compile(r"(?:^|[>\s])(?P<system>[A-Za-z][\w-]*(?: (?:non-)?fatal)?) (?:system|health)?\s*$", re.IGNORECASE)
_UNWELL = re.compile(r"\s*(?:Failure|Warning)\b", re.IGNORECASE)


def diagnostic(log: Log, *, source_name: str) -> list[Observation]:
    """The reason of a failing test is the finding; the failed test itself only without one."""
    reasons: list[Observation] = []
    failures: list[Observation] = []
    for cell in parser.cells(log.text):
        word = cell.name.lower()
        if word.startswith(("error", "warning")):
            reasons += _reason(cell, source_name)
        elif failed := _FAILED.match(cell.text):
            failures += _failures(cell, failed, source_name)
    return reasons + [_explained(failure, reasons) for failure in failures]


def _reason(cell: Cell, source_name: str) -> Iterator[Observation]:
    flat = re.sub(r"\s+", " ", cell.text).strip()
    gpu = _GPU.search(cell.name) or _GPU.search(flat)
    line = EvidenceLine(cell.number, cell.raw)
    if seen := _of_message(flat, None, gpu.group(1) if gpu else "", line, source_name):
        yield seen
    elif cell.name.lower().startswith("error") and flat:
        yield _say("gpu.diag.failed", gpu.group(1) if gpu else "", line, source_name, detail=flat)


def _failures(cell: Cell, failed: re.Match[str], source_name: str) -> Iterator[Observation]:
    numbers = [failed["gpu"]] if failed["gpu"] else re.findall(r"\d+", failed["gpus"] or "") or [""]
    for number in numbers:
        yield _say("gpu.diag.failed", number, EvidenceLine(cell.number, cell.raw), source_name, detail=cell.name)


def _explained(failure: Observation, reasons: Sequence[Observation]) -> Observation:
    known = [seen for seen in reasons if seen.role == "root" and seen.fault != "gpu.diag.failed"]
    if any(seen.component == failure.component or None in (seen.component, failure.component) for seen in known):
        return replace(failure, role="consequence")
    return failure


def diagnostic_json(document: JsonText, *, source_name: str) -> list[Observation]:
    found: list[Observation] = []
    for result in parser.results(document.value):
        failed = result.status.lower() in ("fail", "failed", "error")
        line = document.locate("name", value=f'"{re.escape(result.test)}"')
        told = [
            seen
            for message in result.messages
            if (
                seen := _of_message(
                    message.text, message.number, result.gpu, _line(document, message, line), source_name
                )
            )
        ]
        found += told
        if failed:
            failure = _say("gpu.diag.failed", result.gpu, line, source_name, detail=result.test)
            found.append(_explained(failure, told))
    return found


def _line(document: JsonText, message: parser.Message, otherwise: EvidenceLine) -> EvidenceLine:
    at = document.text.find(message.text[:60]) if message.text else -1
    if at < 0:
        return otherwise
    end = document.text.find("\n", at)
    first = document.text.rfind("\n", 0, at) + 1
    text = document.text[first : end if end >= 0 else len(document.text)].strip()
    return EvidenceLine(document.text.count("\n", 0, at) + 1, text if len(text) <= _SAID else message.text[:_SAID])


def health(log: Log, *, source_name: str) -> list[Observation]:
    """Reads both tables: of DCGM 1 and 2 ("GPU ID: 0 | Warning") and of 3 and 4 ("-> 0 | Healthy")."""
    gpu, group = "", ""
    found: list[Observation] = []
    system: tuple[Cell, str] | None = None
    for cell in _health_cells(log.text):
        name = cell.name.strip(" ->:")
        if match := re.search(r"(?:GPU ID:?|->)\s*(\d+)$", cell.name.strip()):
            gpu, group = (match.group(1), group or "GPU")
        elif name.upper() in ("GPU", "NVSWITCH", "CPU"):
            group = name.upper()
        owner = gpu if group in ("", "GPU") else f"NvSwitch {gpu}" if group == "NVSWITCH" and gpu else ""
        message = catalog.of_message(cell.text)
        if message and not _UNWELL.fullmatch(cell.text):
            found += _told(cell, owner, source_name)
            system = None
        elif (which := _system(cell)) and _UNWELL.search(cell.text.split(":")[-1] if ":" in cell.text else cell.text):
            found += _unnamed(system, owner, source_name)
            system = (cell, which)
    return found + list(_unnamed(system, gpu, source_name))


def _health_cells(text: str) -> list[Cell]:
    return [cell for cell in parser.cells(text) if not cell.name.lower().startswith("overall")]


def _told(cell: Cell, gpu: str, source_name: str) -> Iterator[Observation]:
    flat = re.sub(r"\s+", " ", cell.text).strip()
    number = _GPU.search(flat)
    if seen := _of_message(
        flat, None, number.group(1) if number else gpu, EvidenceLine(cell.number, cell.raw), source_name
    ):
        yield seen


def _system(cell: Cell) -> str:
    for text in (cell.name, cell.text.split(":")[0]):
        match = _SYSTEM.search(text.strip() + ("" if text.strip().endswith(("system", "health")) else " system"))
        if match and match["system"].lower() in _SYSTEMS:
            return match["system"].lower()
    return ""


def _unnamed(system: tuple[Cell, str] | None, gpu: str, source_name: str) -> Iterator[Observation]:
    if system:
        cell, which = system
        seen = _say(
            _SYSTEMS[which],
            gpu,
            EvidenceLine(cell.number, cell.raw),
            source_name,
            detail=f"{which}: no reason is printed",
        )
        yield replace(seen, confidence="medium")


def health_json(document: JsonText, *, source_name: str) -> list[Observation]:
    found: list[Observation] = []
    unwell: dict[tuple[str, ...], Observation] = {}
    for entry in parser.entries(document.value):
        gpu = entry.path[1] if len(entry.path) > 1 and entry.path[0].upper() == "GPU" else ""
        line = _line(document, parser.Message(entry.value, None), EvidenceLine(0, entry.value))
        if seen := _of_message(entry.value, None, gpu, line, source_name):
            found.append(seen)
            unwell = {path: one for path, one in unwell.items() if path[:2] != entry.path[:2]}
        elif _UNWELL.match(entry.value) and (which := _system(Cell(entry.path[-1], "", 0, ""))):
            line = document.locate(entry.path[-1])
            unwell[entry.path] = replace(
                _say(_SYSTEMS[which], gpu, line, source_name, detail=which), confidence="medium"
            )
    return found + list(unwell.values())


def _of_message(text: str, number: int | None, gpu: str, line: EvidenceLine, source_name: str) -> Observation | None:
    error = catalog.of_message(text) or (
        catalog.by_number().get(number) if number is not None else None
    )  # versions number apart
    if _IN_USE.search(text):  # the test ran on a GPU that somebody used
        return _say("job.cuda.unavailable", gpu, line, source_name, detail=text)
    if error is None:
        return None
    fault = error.fault
    if not fault:
        xid = _XID.search(text)
        fault = faults.xid(int(xid.group(1))).fault if xid else "gpu.diag.failed"
    seen = _say(fault, gpu, line, source_name, detail=text)
    return replace(seen, role=error.role, signature=f"dcgm-{error.name}", authorities={"dcgm": error.severity})


def _say(fault: str, gpu: str, line: EvidenceLine, source_name: str, *, detail: str) -> Observation:
    component = f"GPU {gpu}" if gpu and gpu.isdigit() else gpu if gpu.startswith("NvSwitch") else None
    return Observation(fault, line, source_name, component=component, detail=detail[:_SAID], order=line.number)


def links(log: Log, *, source_name: str) -> list[Observation]:
    """As for nvidia-smi: all down is a board without a bridge, unless a neighbour has links. Ports of a switch may well be unused."""
    states: dict[str, list[LinkRow]] = defaultdict(list)
    for row in parser.link_rows(log.text):
        if row.is_gpu:
            states[row.index].append(row)
    anyone = any("U" in row.states for rows in states.values() for row in rows)
    found = []
    for index, rows in states.items():
        down = sum(row.states.count("D") for row in rows)
        if down and anyone:
            row = next(row for row in rows if "D" in row.states)
            seen = _say(
                "gpu.nvlink.error", index, EvidenceLine(row.number, row.raw), source_name, detail=f"{down} links down"
            )
            found.append(replace(seen, count=down))
    return found


_REASONS = "DVCCTR"  # field 112, the bits of the clocks event reasons


def monitor(log: Log, *, source_name: str) -> list[Observation]:
    """Only the reasons for which the clocks are low say what is well: the last sample of each GPU."""
    last = {sample.gpu: sample for sample in parser.samples(log.text)}
    limits = limits_of_gpu()
    found = []
    for gpu, sample in last.items():
        bits = int(sample.values[_REASONS]) if sample.values.get(_REASONS, "").isdigit() else 0
        for bit, fault in (
            (limits["thermal_bits"], "gpu.thermal.slowdown"),
            (limits["power_brake_bit"], "gpu.power.brake"),
        ):
            if bits & bit:
                found.append(
                    _say(fault, gpu, EvidenceLine(sample.number, sample.raw), source_name, detail=f"reasons {bits:#x}")
                )
    say = Speaker(source_name)
    gpu_peers.judge(gpu_samples.boards(_readings(log.text)), say)
    return found + say.found


_READINGS = {
    "SMCLK": "clocks/sm", "POWER": "power/draw", "GPUTL": "utilization/gpu", "FBUSD": "memory/used", "SMACT": "profiling/sm_active",
}  # fmt: skip


def _readings(text: str) -> Iterator[Setting]:
    for sample in parser.samples(text):
        for name, value in sample.values.items():
            if path := _READINGS.get(name):
                yield Setting(f"GPU {sample.gpu}", path, value, sample.number, sample.raw)
        if (bits := sample.values.get(_REASONS, "")).isdigit():
            yield Setting(f"GPU {sample.gpu}", "clocks_event_reasons_active", hex(int(bits)), sample.number, sample.raw)


_NONE_FOUND = re.compile(r"(?m:^0 GPUs? found\.)")


def discovery(log: Log, *, source_name: str) -> list[Observation]:
    match = _NONE_FOUND.search(log.text)
    if not match:
        return []
    line = EvidenceLine(log.text.count("\n", 0, match.start()) + 1, match.group())
    return [Observation("gpu.count_mismatch", line, source_name, confidence="medium", order=line.number)]


def parts(log: Log) -> list[PartFacts]:
    return [
        PartFacts(
            "gpu", index, model=facts.get("Name", ""), uuid=facts["Device UUID"],
            pci_address=components.pci(facts.get("PCI Bus ID", ""), board=True) or "",
        )
        for index, facts in parser.discovered(log.text).items()
    ]  # fmt: skip


def parts_of_json(document: JsonText) -> list[PartFacts]:
    """DCGM 4 lists what it tested, with serial numbers."""
    root: dict[str, Any] = next(
        (document.value[name] for name in ("DCGM Diagnostic", "DCGM GPU Diagnostic") if name in document.value), {}
    )
    groups = root.get("entity_groups") or document.value.get("entity_groups") or []
    return [
        PartFacts("gpu", str(entity["entity_id"]), serial=str(entity.get("serial_num", "")))
        for group in groups
        if isinstance(group, dict) and group.get("entity_group") == "GPU"
        for entity in group.get("entities") or []
        if isinstance(entity, dict) and "entity_id" in entity
    ]
