"""What an Xid or SXid means, by its number and what is printed beside it: one answer for every program that tells of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.catalog import XidRule
from diagnostics.engine.catalog import xids as catalog_xids
from diagnostics.engine.judges import gpu_nvlink
from diagnostics.engine.types import Role
from incidents.domain import faults
from incidents.domain.faults import Xid

NUMBERS = range(1, 1000)
SWITCH_NUMBERS = range(10_000, 100_000)
_FAKE = 14  # the driver's own test
_RECOVERY_ACTION = 154
_ACTION = re.compile(
    r"recovery action changed from 0x\w+ \([^)]*\) to (?P<code>0x\w+) \((?P<action>[^)]+)\)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """`action` is the driver's own advice; `signature` tells one number from another."""

    fault: str
    role: Role
    detail: str
    signature: str
    authorities: Mapping[str, str] = field(default_factory=dict)
    action: str | None = None
    injected: bool = False

    def fields(self) -> dict[str, Any]:
        """As an Observation has them, but for its fault."""
        return {
            "role": self.role, "detail": self.detail, "signature": self.signature, "authorities": self.authorities,
            "action": self.action, "injected": self.injected,
        }  # fmt: skip


def of_number(number: int, text: str = "") -> Meaning:
    """Where the evidence does not say whether the number is a GPU's or a switch's."""
    return of_xid(number, text) if number in NUMBERS else of_sxid(number, text)


def of_xid(number: int, text: str = "") -> Meaning:
    """`text` is what follows the number in the kernel's line, as far as the evidence has it."""
    known = faults.xid(number)
    rule = _rule(number, text)
    reading = _reading(number, text)
    advice = _ACTION.search(text) if number == _RECOVERY_ACTION else None
    said = advice["action"].strip() if advice else ""
    is_settled = said.lower() == "none"  # nothing is asked any more
    return Meaning(
        fault=reading.fault or (rule.fault if rule else None) or known.fault,
        role="note" if is_settled else reading.role or (rule.role if rule else None) or "root",
        detail=_joined(f"Xid {number}: {known.meaning}", reading.detail), signature=f"xid-{number}",
        authorities=({"driver": said} if said and not is_settled else {}) | _verdicts(known, reading),
        action=said if said and not is_settled else None, injected=reading.injected,
    )  # fmt: skip


def of_sxid(number: int, text: str = "") -> Meaning:
    known = faults.sxid(number)
    rule = _rule(number, text)
    is_documented = known.basis == "documented"
    return Meaning(
        fault=of_switch_word(text) or known.fault, role=rule.role if rule and rule.role else "root",
        detail=_joined(f"SXid {number}: {known.meaning}", "" if is_documented else "its severity is judged by its name only"),
        signature=f"sxid-{number}", authorities={"nvidia": (is_documented and known.action) or "no action is documented"},
    )  # fmt: skip


def of_switch_word(text: str) -> str | None:
    """What the line itself says; its further lines (Severity, Data) say nothing."""
    word = text.lower()
    if word.startswith(("non-fatal", "nonfatal")):
        return "gpu.nvswitch.nonfatal"
    return "gpu.nvswitch.error" if word.startswith("fatal") else None


def _reading(number: int, text: str) -> gpu_nvlink.Reading:
    if number == _FAKE or (number not in gpu_nvlink.NUMBERS and gpu_nvlink.says_injected(text)):
        return gpu_nvlink.Reading(role="note", detail="injected by a test", injected=True)
    if number in gpu_nvlink.NUMBERS:
        return gpu_nvlink.of_nvlink5(number, text)
    return gpu_nvlink.of_link_error(text) if number == 74 else gpu_nvlink.Reading()


def _verdicts(known: Xid, reading: gpu_nvlink.Reading) -> dict[str, str]:
    """NVIDIA's action, immediate and investigatory apart, and what others do where they differ."""
    immediate, investigate = reading.immediate or known.immediate, reading.investigate or known.investigatory
    nvidia = _joined(immediate, f"investigate: {investigate}" if investigate else "") or "no action is documented"
    return {"nvidia": nvidia, **catalog_xids.other_verdicts(known.number)}


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _rule(number: int, text: str) -> XidRule | None:
    for rule in catalog.xid_rules():
        if number in rule.numbers and (rule.pattern is None or rule.pattern.search(text)):
            return rule
    return None
