"""The steps of a SOP: what each kind needs, and where it leads."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class StepType(StrEnum):
    CHECK = "check"  # a probe and what it should say
    ACTION = "action"  # changes something on the node
    DECISION = "decision"  # a question with named answers
    MANUAL = "manual"  # something a person does that changes nothing by itself
    VERIFY = "verify"  # proves that it holds
    ROLLBACK = "rollback"  # takes an action back
    ESCALATE = "escalate"  # hands over; the path ends here


CLOSE = "close"
ENDS = frozenset({"verify", "escalate", CLOSE})
"""Targets that every SOP has: its section Verification, its section Escalation, and the end of the work."""

OUTCOMES: dict[StepType, tuple[frozenset[str], frozenset[str]]] = {
    # type: (outcomes that `next` must name, outcomes that it may name besides)
    StepType.CHECK: (frozenset({"met", "not_met"}), frozenset({"error", "timeout"})),
    StepType.ACTION: (frozenset({"ok", "error"}), frozenset({"timeout"})),
    StepType.DECISION: (frozenset(), frozenset({"error", "timeout"})),
    StepType.MANUAL: (frozenset({"ok"}), frozenset({"error", "timeout"})),
    StepType.VERIFY: (frozenset({"met", "not_met"}), frozenset({"error", "timeout"})),
    StepType.ROLLBACK: (frozenset({"ok"}), frozenset({"error", "timeout"})),
    StepType.ESCALATE: (frozenset(), frozenset()),
}
EVIDENCE_ONLY = (frozenset({"ok"}), frozenset({"error", "timeout"}))
"""Outcomes of a check that expects nothing: it only gathers."""

COMMON = frozenset({"type", "next", "timeout", "retry", "risk"})
KEYS: dict[StepType, tuple[frozenset[str], frozenset[str]]] = {
    # type: (keys that must be there, keys that may be there besides the common ones)
    StepType.CHECK: (frozenset({"probe"}), frozenset({"with", "expect"})),
    StepType.ACTION: (frozenset({"action"}), frozenset({"with", "approval", "idempotent", "rollback"})),
    StepType.DECISION: (frozenset({"ask", "answers"}), frozenset({"labels"})),
    StepType.MANUAL: (frozenset(), frozenset({"needs"})),
    StepType.VERIFY: (frozenset(), frozenset({"probe", "with", "expect", "soak"})),
    StepType.ROLLBACK: (frozenset(), frozenset({"action", "with", "approval"})),
    StepType.ESCALATE: (frozenset(), frozenset({"to"})),
}

WORDS = frozenset({"ask", "labels"})
"""Keys that hold words for people: a translation may change them."""
DISRUPTIVE = frozenset({StepType.ACTION, StepType.ROLLBACK})
VARIABLE = re.compile(r"\{\{ ([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*) \}\}")
SAFE_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,252}")


@dataclass(frozen=True)
class Step:
    """One step. `position` counts from 1, `source` is its whole text, `prose` the part for people."""

    key: str
    title: str
    type: StepType
    position: int
    line: int
    prose: str
    source: str
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.source.rstrip().encode()).hexdigest()

    @property
    def branches(self) -> dict[str, str]:
        """Outcome or answer -> key of a step, or one of ENDS."""
        return branches(self.spec)


def branches(spec: Mapping[str, Any]) -> dict[str, str]:
    """Where a step leads; see `Step.branches`. What has not the right shape leads nowhere; `step_rules` tells of it."""
    parts = (spec.get(name, {}) for name in ("answers", "next"))
    pairs = (pair for part in parts if isinstance(part, Mapping) for pair in part.items())
    return {outcome: target for outcome, target in pairs if isinstance(target, str)}


def labels(spec: Mapping[str, Any]) -> dict[str, str]:
    """The answers of a decision as people read them."""
    given = spec.get("labels", {})
    return {answer: given.get(answer) or answer.replace("_", " ").capitalize() for answer in spec.get("answers", {})}


def outcomes(kind: StepType, spec: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """The outcomes that `next` must name, and those that it may name."""
    if kind == StepType.CHECK and "expect" not in spec:
        return EVIDENCE_ONLY
    return OUTCOMES[kind]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in for `{{ name }}`. A value that is more than a plain word stays out: it would be read as Markdown."""

    def value(match: re.Match[str]) -> str:
        found = values.get(match[1], "")
        return found if SAFE_VALUE.fullmatch(found) else f"<{match[1]}>"

    return VARIABLE.sub(value, text)
