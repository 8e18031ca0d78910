"""Which way a checklist has gone: pure, from the steps and the latest result of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from knowledge.domain.steps import ENDS, StepType


class StepState(StrEnum):
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNDONE = "undone"


@dataclass(frozen=True)
class Waypoint:
    """A step as the route sees it; `branches` are outcome -> step key or end."""

    key: str
    type: str
    branches: Mapping[str, str]


@dataclass(frozen=True)
class Result:
    """The latest result of a step. `sequence` grows with time."""

    sequence: int
    state: str
    outcome: str = ""


@dataclass(frozen=True)
class Route:
    """`path`: the steps gone, in order. `current`: the one to do now. `ahead`: those that may still come. `end`: where it ended."""

    path: tuple[str, ...]
    current: str | None
    ahead: frozenset[str]
    end: str


def outcome_of(step: Waypoint, state: str, *, answer: str = "") -> str:
    """The branch that a tick takes: done is the good outcome, failed the bad one, skipped goes on as if it were good."""
    if state == StepState.FAILED:
        return "not_met" if "not_met" in step.branches else "error"
    if step.type == StepType.DECISION:
        return answer
    return "met" if "met" in step.branches else "ok"


def walk(steps: Sequence[Waypoint], results: Mapping[str, Result]) -> Route:
    """Follow the results from the first step on. A step that is come to again needs a result newer than the way back to it."""
    by_key = {step.key: step for step in steps}
    path: list[str] = []
    seen: set[str] = set()
    newer_than = 0
    key = steps[0].key
    while key not in ENDS:
        result = results.get(key)
        path_before = tuple(path)
        if result is None or result.state == StepState.UNDONE or result.sequence <= newer_than:
            return Route(path_before, key, _reachable(by_key, key), "")
        path.append(key)
        seen.add(key)
        step = by_key[key]
        if step.type == StepType.ESCALATE:
            return Route(tuple(path), None, frozenset(), "escalate")
        key = step.branches.get(result.outcome, "escalate")
        if key in seen:
            newer_than = result.sequence
            seen.clear()
    return Route(tuple(path), None, frozenset(), key)


def _reachable(by_key: Mapping[str, Waypoint], start: str) -> frozenset[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        key = todo.pop()
        if key in found or key in ENDS:
            continue
        found.add(key)
        todo.extend(by_key[key].branches.values())
    return frozenset(found - {start})
