"""Reports of agents that watch GPUs: the kernel's line that they quote, DCGM's code, a counter, or the words of their message."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.judges import gpu_dcgm_codes, gpu_settings
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.gpu_xids import Xids
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.parsers import gpu_reports as parser
from diagnostics.engine.parsers import nvidia_smi
from diagnostics.engine.parsers.gpu_reports import Leaf, Report
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Literals, Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import EvidenceLine, Moment, Observation, Role
from incidents.domain import faults

_XID = re.compile(r"\bXID:? ?(?P<xid>\d{1,3})\b", re.IGNORECASE)
_SHORT_PCI = re.compile(r"\bPCI:(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})\b")
_TIMES = ("time", "timestamp", "generatedTimestamp", "startTime")
_FOLLOWERS = (43, 45)


@lru_cache(maxsize=1)
def _literals() -> Literals:
    return Literals((*Xids.literals(), *Signatures.literals()))


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    return [seen for report in parser.reports(document.value) for seen in _of(report, document, source_name)]


def _of(report: Report, document: JsonText, source_name: str) -> Iterator[Observation]:
    """The first of the ways that says something, for all tell of one event."""
    ways = (_by_code, _quoted, _by_counter, _by_words)
    found = next((seen for way in ways if (seen := list(way(report, source_name)))), [])
    for one in found:
        line = _line(document, one.line.text)
        role: Role = "note" if report.is_well else one.role
        moment = one.moment if one.moment.at else _moment(report)
        yield replace(one, line=line, order=line.number, role=role, node=report.node or one.node, moment=moment)


def _quoted(report: Report, source_name: str) -> Iterator[Observation]:
    """Lines of the kernel and of other programs."""
    judges = (Xids(source_name), Signatures(source_name))
    for leaf in report.leaves:
        log = Log.of(leaf.value.replace("\n", " "))
        for line, found in log.lines_with(_literals()):
            hits = [hit for judge in judges for hit in judge.see(line, found, log) if not hit.clears]
            yield from (replace(hit.seen, confidence="medium") for hit in hits)


def _by_code(report: Report, source_name: str) -> Iterator[Observation]:
    text = _joined(report)
    for error in gpu_dcgm_codes.codes(text):
        printed = next(leaf.value for leaf in report.leaves if f"DCGM_FR_{error.name}" in leaf.value)
        yield Observation(
            gpu_dcgm_codes.fault_of(error, text), EvidenceLine(0, printed), source_name, role=error.role,
            component=gpu_dcgm_codes.component_of(text), signature=f"dcgm-{error.name}", authorities={"dcgm": error.severity},
        )  # fmt: skip


def _by_counter(report: Report, source_name: str) -> Iterator[Observation]:
    """Counters that carry the names of nvidia-smi's settings."""
    gpu = gpu_dcgm_codes.component_of(_joined(report)) or ""
    rows = [
        Setting(gpu, "/".join(nvidia_smi.key(name) for name in leaf.path), leaf.value, 0, leaf.path[-1])
        for leaf in report.leaves
        if leaf.path
    ]
    yield from gpu_settings.judge_rows(rows, source_name)


def _by_words(report: Report, source_name: str) -> Iterator[Observation]:
    text = _joined(report)
    component = gpu_dcgm_codes.component_of(text)
    for leaf in report.leaves:
        if error := catalog.of_message(leaf.value):
            yield Observation(
                gpu_dcgm_codes.fault_of(error, leaf.value), EvidenceLine(0, leaf.value), source_name, role=error.role,
                component=component, confidence="medium", authorities={"dcgm": error.severity},
            )  # fmt: skip
            return
    if match := _XID.search(text):
        yield _xid(int(match["xid"]), text, component, source_name)


def _xid(number: int, text: str, component: str | None, source_name: str) -> Observation:
    known = faults.xid(number)
    short = _SHORT_PCI.search(text)
    role: Role = "note" if number in _FOLLOWERS else "root"
    return Observation(
        known.fault, EvidenceLine(0, text), source_name, role=role, component=f"{short['pci']}.0".lower() if short else component,
        confidence="medium", detail=f"Xid {known.number}: {known.meaning}", signature=f"xid-{known.number}",
    )  # fmt: skip


def _joined(report: Report) -> str:
    """The message first: what else stands in the report only adds to it."""
    leaves = sorted(report.leaves, key=_is_context)
    return " ".join(leaf.value for leaf in leaves)[:4000]


def _is_context(leaf: Leaf) -> bool:
    return leaf.path[:1] not in (("message",), ("reason",), ("warning",), ("error",))


def _line(document: JsonText, printed: str) -> EvidenceLine:
    at = document.text.find(printed.split('"')[0].split("\\")[0][:60])
    if at < 0:
        return EvidenceLine(0, printed[:300])
    end = document.text.find("\n", at)
    text = document.text[document.text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(document.text)].strip()
    return EvidenceLine(document.text.count("\n", 0, at) + 1, text if len(text) <= 300 else printed[:300])


def _moment(report: Report) -> Moment:
    for leaf in report.leaves:
        if leaf.path[:1] and leaf.path[0] in _TIMES:
            try:
                at = datetime.fromisoformat(leaf.value)
            except ValueError:
                continue
            return Moment(at) if at.tzinfo else Moment()
    return Moment()


_UNREAD = "an agent's report is a sign at second hand; a log or a diagnostic run shows what is behind it"

FORMATS = {"gpu-reports": Format("GPU health reports", (judge,), of(), unread=_UNREAD)}
