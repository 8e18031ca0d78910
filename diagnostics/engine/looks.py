"""What one section of a piece of evidence said, and what a later section takes back."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from diagnostics.engine.judges.tally import Clear
from diagnostics.engine.types import Check, Observation
from incidents.domain.hardware import PartFacts

_EVENTS = ("log", "text", "job-log")  # they tell of what happened; a second print of them is no second look


@dataclass(frozen=True, slots=True)
class Read:
    """What one piece said. `node` is the host that a prompt named; `parts` are the hardware that the evidence identified.

    `command` is what printed it, where the file tells.
    """

    kind: str
    observations: Sequence[Observation] = ()
    checks: Sequence[Check] = ()
    parts: Sequence[PartFacts] = ()
    node: str | None = None
    clears: Sequence[Clear] = ()
    command: str = ""


def settled(reads: Sequence[Read]) -> list[Read]:
    """What a later section takes back is over: a line that says so, or the same command that shows it no more."""
    later = _Later()
    found = []
    for one in reversed(reads):
        found.append(later.settle(one))
        later.add(one)
    return found[::-1]


class _Later:
    """What the sections below the present one said, gathered from the last upwards so that each is looked at once."""

    def __init__(self) -> None:
        self._clears: dict[str | None, _Clears] = defaultdict(_Clears)  # by node
        self._all_clears = _Clears()
        # Of each command (with its kind and node) the last look for each set of families, and what still stands in it.
        self._looks: dict[tuple[str, str, str | None], dict[frozenset[str], _Standing]] = defaultdict(dict)

    def add(self, one: Read) -> None:
        for clear in one.clears:
            self._clears[one.node].add(clear)
            self._all_clears.add(clear)
        if one.command and one.kind not in _EVENTS:
            standing = {(seen.fault, seen.component) for seen in one.observations}
            self._looks[one.command, one.kind, one.node].setdefault(_clean_families(one.checks), standing)

    def settle(self, one: Read) -> Read:
        if not one.observations:
            return one
        clears = [self._clears[one.node], self._clears[None]] if one.node else [self._all_clears]
        standing = self._standing_after(one)
        return replace(
            one,
            observations=[
                replace(seen, role="note")
                if any(of_node.cover(seen) for of_node in clears)
                or (standing is not None and (seen.fault, seen.component) not in standing)
                else seen
                for seen in one.observations
            ],
        )

    def _standing_after(self, one: Read) -> "_Standing | None":
        """What the last look of the same command shows, if it looked at all that this one did; a log tells of events."""
        looks = self._looks.get((one.command, one.kind, one.node), {})
        looked = _clean_families(one.checks)
        return next((standing for families, standing in looks.items() if looked <= families), None)


_Standing = set[tuple[str, str | None]]


def _clean_families(checks: Iterable[Check]) -> frozenset[str]:
    return frozenset(name for check in checks if check.status == "clean" for name in check.families)


@dataclass(slots=True)
class _Clears:
    """Faults and signatures that were taken back, each with its parts; None is any part."""

    _parts: dict[str, set[str | None]] = field(default_factory=lambda: defaultdict(set))

    def add(self, clear: Clear) -> None:
        for name in clear.names:
            self._parts[name].add(clear.component)

    def cover(self, seen: Observation) -> bool:
        return any(_is_one_of(seen.component, parts) for parts in self._of(seen))

    def _of(self, seen: Observation) -> Iterator[set[str | None]]:
        for name in (seen.fault, seen.signature):
            if name in self._parts:
                yield self._parts[name]


def _is_one_of(component: str | None, parts: set[str | None]) -> bool:
    return component is None or None in parts or component in parts
