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
from diagnostics.engine.judges import components
from diagnostics.engine.judges.signatures import is_kernel, observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check, Observation
from incidents.domain import faults

LITERALS = ("NVRM: Xid (", "SXid (")

_XID = re.compile(
    r"NVRM: Xid \((?P<pci>[^)]{4,40})\): (?P<xid>\d{1,4})\b"
    r"(?:, pid=(?P<pid>'[^']*'|[^,]*))?(?:, name=(?P<name>[^,]*))?,?\s*(?P<text>.*)"
)
_SXID = re.compile(r"nvidia-nvswitch(?P<switch>\d+): SXid \((?P<pci>[^)]{4,40})\): (?P<sxid>\d{3,6}), (?P<text>.*)")
_ACTION = re.compile(
    r"recovery action changed from 0x\w+ \([^)]*\) to (?P<code>0x\w+) \((?P<action>[^)]+)\)", re.IGNORECASE
)


class Xids:
    """The judge of Xid and SXid lines; one for each source, for a later line of an SXid does not repeat what the first said."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._switch_faults: dict[tuple[str | None, int], str] = {}
        self._unread: LogLine | None = None

    @staticmethod
    def literals() -> tuple[str, ...]:
        return LITERALS

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not is_kernel(line) or not any(literal in found for literal in LITERALS):
            return
        if match := _XID.match(line.message):
            if seen := _xid(match, line, self._source_name):
                yield Hit(seen)
        elif match := _SXID.match(line.message):
            yield Hit(_sxid(match, line, self._source_name, self._switch_faults))
        else:
            self._unread = self._unread or line

    def gaps(self) -> list[Check]:
        """A line that names an Xid in a form that we do not read must not pass for clean."""
        if self._unread is None:
            return []
        families = tuple(sorted({faults.family_of(xid.fault) for xid in faults.all_xids()} | {"gpu.nvlink"}))
        reason = f"line {self._unread.number} names an Xid in a form that is not read: {self._unread.raw[:120]}"
        return [Check("Xid lines", families, "could_not_check", reason)]


def _xid(match: re.Match[str], line: LogLine, source_name: str) -> Observation | None:
    known = faults.xid(int(match["xid"]))
    rule = _rule(known.number, match["text"])
    seen = observe(
        line, fault=rule.fault if rule and rule.fault else known.fault, source_name=source_name,
        component=components.pci(match["pci"], board=True), signature=f"xid-{known.number}",
        detail=f"Xid {known.number}: {known.meaning}", role=rule.role if rule and rule.role else "root",
        authorities={"nvidia": known.immediate} if known.immediate else {},
    )  # fmt: skip
    if action := _ACTION.search(match["text"]):
        return _recovery_action(seen, action)
    return seen


def _recovery_action(seen: Observation, match: re.Match[str]) -> Observation | None:
    """Xid 154 carries the driver's own advice; "None" means that nothing is asked any more."""
    if match["action"].strip().lower() == "none":
        return replace(seen, role="note")
    return replace(seen, action=match["action"].strip(), authorities={"driver": match["action"].strip()})


def _sxid(
    match: re.Match[str], line: LogLine, source_name: str, known_faults: dict[tuple[str | None, int], str]
) -> Observation:
    known = faults.sxid(int(match["sxid"]))
    component = components.pci(match["pci"])
    fault = _switch_fault(match["text"]) or known_faults.get((component, known.number), known.fault)
    known_faults[component, known.number] = fault
    rule = _rule(known.number, match["text"])
    return observe(
        line, fault=fault, source_name=source_name, component=component, signature=f"sxid-{known.number}",
        detail=f"SXid {known.number}: {known.meaning}", role=rule.role if rule and rule.role else "root",
        authorities={"nvidia": known.action} if known.action and known.basis == "documented" else {},
    )  # fmt: skip


def _switch_fault(text: str) -> str | None:
    """What the line itself says; its further lines (Severity, Data) say nothing."""
    word = text.lower()
    if word.startswith(("non-fatal", "nonfatal")):
        return "gpu.nvswitch.nonfatal"
    return "gpu.nvswitch.error" if word.startswith("fatal") else None


def _rule(number: int, text: str) -> XidRule | None:
    for rule in catalog.xid_rules():
        if number in rule.numbers and (rule.pattern is None or rule.pattern.search(text)):
            return rule
    return None
