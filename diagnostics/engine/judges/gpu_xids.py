"""Xid lines of the GPU driver and SXid lines of the NVSwitch driver.

NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 31, pid=77, name=python3, Ch 00000010, intr 00000000. MMU Fault: ...
nvidia-nvswitch1: SXid (PCI:0000:c4:00.0): 20034, Fatal, Link 48 LTSSM Fault Up
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from diagnostics.engine import catalog
from diagnostics.engine.catalog import XidRule
from diagnostics.engine.catalog import xids as catalog_xids
from diagnostics.engine.judges import components, gpu_nvlink
from diagnostics.engine.judges.signatures import is_kernel, observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check, Observation
from incidents.domain import faults
from incidents.domain.faults import Xid

LITERALS = ("NVRM: Xid", "SXid")

_XID = re.compile(
    r"NVRM: Xid \((?P<pci>[^)]{4,40})\): (?P<xid>\d{1,4})\b"
    r"(?:, pid=(?P<pid>'[^']*'|[^,]*))?(?:, name=(?P<name>[^,]*))?,?\s*(?P<text>.*)"
)
_SXID = re.compile(r"nvidia-nvswitch(?P<switch>\d+): SXid \((?P<pci>[^)]{4,40})\): (?P<sxid>\d{3,6}), (?P<text>.*)")
# kubectl get events, kubectl describe node: a monitor of the node quotes the kernel as an event of it.
_EVENT = re.compile(r"\s*(?:\S+ +){0,4}?Warning +\S+ +(?:\S+ +){0,8}?(?:kernel: )?(?=NVRM: Xid \()")
# A ticket, an alert or a mail quotes the kernel's line after a label of its own; prose and quotation marks are no such label.
_LABELLED = re.compile(r"(?:(?P<node>[A-Za-z][\w.-]*) kernel: (?:\[ *\d+\.\d+\] )?|[;:|=：] {0,2})(?=NVRM: Xid \(PCI:)")
_CAUSE = re.compile(r"caused by previous Xid (?P<xid>\d{1,3})\b")
_EVENT_NODE = re.compile(r"\bnode/(?P<node>[\w.-]+)")
_NUMBERED = re.compile(r"\bS?Xid\b\D{0,40}\d|\bS?Xid \(")
_ACTION = re.compile(
    r"recovery action changed from 0x\w+ \([^)]*\) to (?P<code>0x\w+) \((?P<action>[^)]+)\)", re.IGNORECASE
)


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
        if not line.prefixed and (label := _LABELLED.search(line.message)):
            line = replace(line, message=line.message[label.end() :], host=label["node"] or line.host)
        if match := _XID.match(line.message):
            if seen := self._with_cause(match, _xid(match, line, self._source_name)):
                yield Hit(seen)
        elif match := _SXID.match(line.message):
            yield Hit(_sxid(match, line, self._source_name, self._switch_faults))
        elif _NUMBERED.search(line.message):
            self._unread = self._unread or line

    def _with_cause(self, match: re.Match[str], seen: Observation | None) -> Observation | None:
        """A follower that names an Xid which is not in the log is the only sign of that one."""
        cause = _CAUSE.search(match["text"])
        known = faults.xid(int(cause["xid"])) if cause else None
        if seen and known and known.number not in self._numbers and not _is_note(known.number):
            detail = f"caused by Xid {known.number}: {known.meaning}"
            return replace(
                seen,
                fault=known.fault,
                role="root",
                confidence="medium",
                detail=detail,
                signature=f"cause-{known.number}",
            )
        self._numbers.add(int(match["xid"]))
        return seen

    def gaps(self) -> list[Check]:
        """A line that names an Xid in a form that we do not read must not pass for clean."""
        if self._unread is None:
            return []
        families = tuple(sorted({faults.family_of(xid.fault) for xid in faults.all_xids()} | {"gpu.nvlink"}))
        reason = f"line {self._unread.number} names an Xid in a form that is not read: {self._unread.raw[:120]}"
        return [Check("Xid lines", families, "could_not_check", reason, is_sign=True)]


def _xid(match: re.Match[str], line: LogLine, source_name: str) -> Observation | None:
    known = faults.xid(int(match["xid"]))
    text = match["text"]
    rule = _rule(known.number, text)
    reading = _reading(known.number, text)
    fault = reading.fault or (rule.fault if rule else None) or known.fault
    seen = observe(
        line, fault=fault, source_name=source_name, component=components.pci(match["pci"], board=True),
        signature=f"xid-{known.number}", detail=_detail(f"Xid {known.number}: {known.meaning}", reading.detail),
        role=reading.role or (rule.role if rule else None) or "root", subject=_process(match) if fault in _OF_A_PROCESS else "",
        authorities=_verdicts(known, reading), injected=reading.injected,
    )  # fmt: skip
    if action := _ACTION.search(text):
        return _recovery_action(seen, action)
    return seen


_OF_A_PROCESS = ("gpu.app.mmu_fault", "gpu.app.exception")
_FAKE = 14  # the driver's own test


def _reading(number: int, text: str) -> gpu_nvlink.Reading:
    if number == _FAKE:
        return gpu_nvlink.Reading(role="note", detail="injected by a test", injected=True)
    if number in gpu_nvlink.NUMBERS:
        return gpu_nvlink.of_nvlink5(number, text)
    return gpu_nvlink.of_link_error(text) if number == 74 else gpu_nvlink.Reading()


def _detail(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _process(match: re.Match[str]) -> str:
    """Who was hit; "" if the driver does not know."""
    words = [(match[name] or "").strip(" '<>") for name in ("pid", "name")]
    return " ".join(word for word in words if word and word != "unknown")


def _verdicts(known: Xid, reading: gpu_nvlink.Reading) -> dict[str, str]:
    """NVIDIA's action, immediate and investigatory apart, and what others do where they differ."""
    immediate, investigate = reading.immediate or known.immediate, reading.investigate or known.investigatory
    nvidia = _detail(immediate, f"investigate: {investigate}" if investigate else "") or "no action is documented"
    return {"nvidia": nvidia, **catalog_xids.other_verdicts(known.number)}


def _recovery_action(seen: Observation, match: re.Match[str]) -> Observation | None:
    """Xid 154 carries the driver's own advice; "None" means that nothing is asked any more."""
    if match["action"].strip().lower() == "none":
        return replace(seen, role="note")
    said = match["action"].strip()
    return replace(seen, action=said, authorities={"driver": said, **seen.authorities})


def _sxid(
    match: re.Match[str], line: LogLine, source_name: str, known_faults: dict[tuple[str | None, int], str]
) -> Observation:
    known = faults.sxid(int(match["sxid"]))
    component = components.pci(match["pci"])
    is_documented = known.basis == "documented"
    fault = _switch_fault(match["text"]) or known_faults.get((component, known.number), known.fault)
    known_faults[component, known.number] = fault
    rule = _rule(known.number, match["text"])
    return observe(
        line, fault=fault, source_name=source_name, component=component, signature=f"sxid-{known.number}",
        detail=_detail(f"SXid {known.number}: {known.meaning}", "" if is_documented else "its severity is judged by its name only"),
        role=rule.role if rule and rule.role else "root",
        authorities={"nvidia": known.action if known.action and is_documented else "no action is documented"},
    )  # fmt: skip


def _switch_fault(text: str) -> str | None:
    """What the line itself says; its further lines (Severity, Data) say nothing."""
    word = text.lower()
    if word.startswith(("non-fatal", "nonfatal")):
        return "gpu.nvswitch.nonfatal"
    return "gpu.nvswitch.error" if word.startswith("fatal") else None


def _is_note(number: int) -> bool:
    rule = _rule(number, "")
    return rule is not None and rule.role == "note"


def _rule(number: int, text: str) -> XidRule | None:
    for rule in catalog.xid_rules():
        if number in rule.numbers and (rule.pattern is None or rule.pattern.search(text)):
            return rule
    return None
