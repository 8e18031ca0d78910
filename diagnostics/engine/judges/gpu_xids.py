"""Xid lines of the GPU driver and SXid lines of the NVSwitch driver.

NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 31, pid=77, name=python3, Ch 00000010, intr 00000000. MMU Fault: ...
nvidia-nvswitch1: SXid (PCI:0000:c4:00.0): 20034, Fatal, Link 48 LTSSM Fault Up
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from diagnostics.engine import components
from diagnostics.engine.judges import gpu_xid_meaning
from diagnostics.engine.judges.signatures import is_kernel, observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check, Observation
from incidents.domain import faults

LITERALS = ("NVRM: Xid", "SXid")

_XID = re.compile(
    r"NVRM: Xid \((?P<pci>[^)]{4,40})\): (?P<xid>\d{1,4})\b"
    r"(?:, pid=(?P<pid>'[^']*'|[^,]*))?(?:, name=(?P<name>[^,]*))?,?\s*(?P<text>.*)"
)
_SXID = re.compile(r"nvidia-nvswitch\d+: SXid \((?P<pci>[^)]{4,40})\): (?P<sxid>\d{3,6}), (?P<text>.*)")
_DRIVER = r"(?:NVRM: Xid|nvidia-nvswitch\d{1,3}: SXid) \("
# kubectl get events, kubectl describe node: a monitor of the node quotes the kernel as an event of it.
_EVENT = re.compile(rf"\s*(?:\S+ +){{0,4}}?Warning +\S+ +(?:\S+ +){{0,8}}?(?={_DRIVER})")
# Pasted with the time of day only.
_CLOCK = re.compile(rf"\[?\d{{1,2}}:\d\d:\d\d(?:[.,]\d{{1,9}})?\]? +(?={_DRIVER})")
# A ticket, an alert, a mail or the event log of Windows quotes the driver after a label of its own; prose and quotation marks are
# no such label, and what follows a colon is no name of a node.
_LABELLED = re.compile(
    r"(?:(?<![\w.:/-])(?P<node>[A-Za-z][\w.-]*) kernel: (?:\[ *\d+\.\d+\] )?|\bkernel: \[ *\d+\.\d+\] "
    rf"|[;:|=：] {{0,2}}|\\Device\\\w{{1,40}} )(?={_DRIVER}PCI:)"
)
_CAUSE = re.compile(r"caused by previous Xid (?P<xid>\d{1,3})\b")
_EVENT_NODE = re.compile(r"\bnode/(?P<node>[\w.-]+)")
_NUMBERED = re.compile(r"\bS?Xid\b\D{0,40}\d|\bS?Xid \(")


class Xids:
    """The judge of Xid and SXid lines; one for each source, for a later line of an SXid does not repeat what the first said."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._switch_faults: dict[tuple[str | None, int], str] = {}
        self._numbers: set[int] = set()
        self._unread: LogLine | None = None

    @staticmethod
    def literals() -> tuple[str, ...]:
        return LITERALS

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not any(literal in found for literal in LITERALS):
            return
        if not line.prefixed and (event := _EVENT.match(line.message)):
            node = _EVENT_NODE.search(event.group())
            line = replace(line, message=line.message[event.end() :], host=node["node"] if node else line.host)
        elif not is_kernel(line):
            return
        if not line.prefixed and (clock := _CLOCK.match(line.message)):
            line = replace(line, message=line.message[clock.end() :])
        elif not line.prefixed and (label := _LABELLED.search(line.message)):
            line = replace(line, message=line.message[label.end() :], host=label["node"] or line.host)
        if match := _XID.match(line.message):
            yield Hit(self._with_cause(match, _xid(match, line, self._source_name)))
        elif match := _SXID.match(line.message):
            yield Hit(_sxid(match, line, self._source_name, self._switch_faults))
        elif _NUMBERED.search(line.message):
            self._unread = self._unread or line

    def _with_cause(self, match: re.Match[str], seen: Observation) -> Observation:
        """A follower that names an Xid which is not in the log is the only sign of that one."""
        cause = _CAUSE.search(match["text"])
        number = int(cause["xid"]) if cause else None
        if number and number not in self._numbers:
            means = gpu_xid_meaning.of_xid(number)
            if means.role == "root":
                detail = f"caused by Xid {number}: {faults.xid(number).meaning}"
                said = means.fields() | {"detail": detail, "signature": f"cause-{number}"}
                return replace(seen, fault=means.fault, confidence="medium", **said)
        self._numbers.add(int(match["xid"]))
        return seen

    def gaps(self) -> list[Check]:
        """A line that names an Xid in a form that we do not read must not pass for clean."""
        if self._unread is None:
            return []
        families = tuple(sorted({faults.family_of(xid.fault) for xid in faults.all_xids()} | {"gpu.nvlink"}))
        reason = f"line {self._unread.number} names an Xid in a form that is not read: {self._unread.raw[:120]}"
        return [Check("Xid lines", families, "could_not_check", reason, is_sign=True)]


def _xid(match: re.Match[str], line: LogLine, source_name: str) -> Observation:
    means = gpu_xid_meaning.of_xid(int(match["xid"]), match["text"])
    return observe(
        line, fault=means.fault, source_name=source_name, component=components.pci(match["pci"], board=True),
        subject=_process(match) if means.fault in _OF_A_PROCESS else "", **means.fields(),
    )  # fmt: skip


_OF_A_PROCESS = ("gpu.app.mmu_fault", "gpu.app.exception")


def _process(match: re.Match[str]) -> str:
    """Who was hit; "" if the driver does not know."""
    words = [(match[name] or "").strip(" '<>") for name in ("pid", "name")]
    return " ".join(word for word in words if word and word != "unknown")


def _sxid(
    match: re.Match[str], line: LogLine, source_name: str, known_faults: dict[tuple[str | None, int], str]
) -> Observation:
    number, component = int(match["sxid"]), components.pci(match["pci"])
    means = gpu_xid_meaning.of_sxid(number, match["text"])
    said = gpu_xid_meaning.of_switch_word(match["text"])
    fault = known_faults[component, number] = said or known_faults.get((component, number), means.fault)
    return observe(line, fault=fault, source_name=source_name, component=component, **means.fields())
