"""Reports of agents that watch GPUs: the kernel's line that they quote, DCGM's code, a counter, or the words of their message."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.judges import gpu_dcgm_codes, gpu_mentions, gpu_settings, gpu_xid_reasons
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.gpu_xid_reasons import Told
from diagnostics.engine.judges.gpu_xids import Xids
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.parsers import gpu_reports as parser
from diagnostics.engine.parsers import nvidia_smi
from diagnostics.engine.parsers.gpu_reports import Leaf, Report
from diagnostics.engine.parsers.json_text import NEAR, JsonText
from diagnostics.engine.parsers.log import Literals, Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import EvidenceLine, Moment, Observation, Role

_XID_CHECK = re.compile(r"\bSysLogsS?XID|error[-_]s?xid\b", re.IGNORECASE)
_XID_FIELDS = ("xid", "sxid", "xid_code")
_CODE_FIELDS = ("errorcode", "error_code")
_TIMES = ("time", "timestamp", "generatedTimestamp", "startTime")


@lru_cache(maxsize=1)
def _literals() -> Literals:
    return Literals((*Xids.literals(), *Signatures.literals()))


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    """Reports come in the order of the document, so each is looked for behind the one before it."""
    found: list[Observation] = []
    place = 0
    for report in parser.reports(document.value):
        found += _of(report, document, place, source_name)
        for leaf in report.leaves:
            place = document.end_of(leaf.value, place, place + NEAR)
    return found


def _of(report: Report, document: JsonText, place: int, source_name: str) -> Iterator[Observation]:
    """The first of the ways that says something, for all tell of one event."""
    ways = (_by_code, _quoted, _by_counter, _by_report, _by_message, _by_name, _by_number)
    found = next((seen for way in ways if (seen := list(way(report, source_name)))), [])
    for one in found:
        line = _line(one.line, report, document, place)
        role: Role = "note" if report.is_well else one.role
        moment = one.moment if one.moment.at else _moment(report)
        yield replace(one, line=line, order=line.number, role=role, node=report.node or one.node, moment=moment)


def _line(seen: EvidenceLine, report: Report, document: JsonText, place: int) -> EvidenceLine:
    """Where the leaf stands that was seen: by its number, if it has one, else by its text."""
    if seen.number:
        leaf = report.leaves[seen.number - 1]
        line = document.locate_text(leaf.path[-1], leaf.value, after=place)
        return line if line.number else document.locate(leaf.path[-1], value=leaf.value.lower(), after=place)
    return document.line_of(seen.text, after=place) or document.locate(report.leaves[0].path[-1], after=place)


def _quoted(report: Report, source_name: str) -> Iterator[Observation]:
    """Lines of the kernel and of other programs."""
    judges = (Xids(source_name), Signatures(source_name))
    for leaf in report.leaves:
        log = Log.of(leaf.value.replace("\n", " "))
        for line, found in log.lines_with(_literals()):
            hits = [hit for judge in judges for hit in judge.see(line, found, log) if not hit.clears]
            yield from (replace(hit.seen, line=EvidenceLine(0, leaf.value), confidence="medium") for hit in hits)


def _by_code(report: Report, source_name: str) -> Iterator[Observation]:
    text = _joined(report)
    for error in gpu_dcgm_codes.codes(text):
        printed = next(leaf.value for leaf in report.leaves if f"DCGM_FR_{error.name}" in leaf.value)
        for fault, fields in gpu_dcgm_codes.said_by(error, text):
            yield Observation(
                fault, EvidenceLine(0, printed), source_name, component=gpu_mentions.component_of(text), **fields
            )


def _by_counter(report: Report, source_name: str) -> Iterator[Observation]:
    """Counters that carry the names of nvidia-smi's settings; each is known by its number among the leaves."""
    gpu = gpu_mentions.component_of(_joined(report)) or ""
    rows = [
        Setting(gpu, "/".join(nvidia_smi.key(name) for name in leaf.path), leaf.value, number, leaf.path[-1])
        for number, leaf in enumerate(report.leaves, 1)
        if leaf.path
    ]
    yield from gpu_settings.judge_rows(rows, source_name)


def _by_report(report: Report, source_name: str) -> Iterator[Observation]:
    """Xids in a form that is a report wherever it stands."""
    return _xids(report, gpu_xid_reasons.told, source_name)


def _by_name(report: Report, source_name: str) -> Iterator[Observation]:
    """Xids that any of the words name."""
    return _xids(report, gpu_xid_reasons.named, source_name)


def _xids(report: Report, read: Callable[[str], Sequence[Told]], source_name: str) -> Iterator[Observation]:
    component = gpu_mentions.component_of(_joined(report))
    told = ((leaf, one) for leaf in report.leaves for one in read(leaf.value))
    for leaf, one in {one.means.signature: (leaf, one) for leaf, one in told}.values():
        yield _observation(one.means.fault, leaf, source_name, one.component or component, one.means.fields())


def _by_message(report: Report, source_name: str) -> Iterator[Observation]:
    """The first message of DCGM."""
    component = gpu_mentions.component_of(_joined(report))
    for leaf in report.leaves:
        if error := catalog.of_message(leaf.value):
            for fault, fields in gpu_dcgm_codes.said_by(error, leaf.value):
                yield _observation(fault, leaf, source_name, component, fields)
            return


def _by_number(report: Report, source_name: str) -> Iterator[Observation]:
    """The number of an Xid in a field of its own, or as the code of a check of Xids."""
    check = next((leaf for leaf in report.leaves if _XID_CHECK.search(leaf.value)), None)
    component = gpu_mentions.component_of(_joined(report))
    for leaf in report.leaves:
        name = next((name.lower() for name in reversed(leaf.path)), "")
        if (name not in _XID_FIELDS and not (check and name in _CODE_FIELDS)) or not leaf.value.isdigit():
            continue
        for one in gpu_xid_reasons.named(f"Xid {leaf.value}"):
            yield _observation(one.means.fault, check or leaf, source_name, component, one.means.fields())


def _observation(
    fault: str, leaf: Leaf, source_name: str, component: str | None, fields: dict[str, Any]
) -> Observation:
    return Observation(
        fault, EvidenceLine(0, leaf.value), source_name, component=component, confidence="medium", **fields
    )


def _joined(report: Report) -> str:
    """The message first: what else stands in the report only adds to it."""
    leaves = sorted(report.leaves, key=_is_context)
    return " ".join(leaf.value for leaf in leaves)[:4000]


def _is_context(leaf: Leaf) -> bool:
    return leaf.path[:1] not in (("message",), ("reason",), ("warning",), ("error",))


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
