"""Counts signs as they come, in memory that does not grow with the log: of each kind of sign at each part the first and the last are
kept, the rest is counted.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from diagnostics.engine.catalog import Storm
from diagnostics.engine.types import Observation

MOST_KEPT = 10  # first signs, and as many last ones
MOST_KINDS = 4_000  # of (sign, part, node); what goes beyond is counted without its part
Key = tuple[str, str, str | None, str | None, str | None]


class Hit(NamedTuple):
    """A sign, how it weighs when repeated, and the faults or signatures that it takes back (then it is no sign itself)."""

    seen: Observation
    storm: Storm | None = None
    clears: tuple[str, ...] = ()


def _last() -> deque[Observation]:
    return deque(maxlen=MOST_KEPT)


@dataclass(slots=True)
class Record:
    """The signs of one kind at one part. `subjects` are the different ones who were hit, the first few."""

    storm: Storm | None
    first: list[Observation] = field(default_factory=list)
    last: deque[Observation] = field(default_factory=_last)
    count: int = 0
    skipped: int = 0
    seen: int = 0
    over: int = 0  # how many of the signs, counted from the first, are taken back ...
    over_alone: int = 0  # ... if they do not amount to the storm: a link that is up again has flapped nevertheless

    def add(self, one: Observation) -> None:
        self.count += one.count
        self.seen += 1
        if len(self.first) < MOST_KEPT:
            self.first.append(one)
        else:
            if len(self.last) == MOST_KEPT:
                self.skipped += self.last[0].count
            self.last.append(one)

    @property
    def names(self) -> set[str]:
        """What a line may call them that takes them back."""
        one = self.first[0]
        return {one.signature, one.fault, *((self.storm.fault or "",) if self.storm else ())} - {""}

    def take_back(self, cleared: tuple[str, ...]) -> None:
        one = self.first[0]
        if one.signature in cleared or (self.storm and self.storm.fault in cleared):
            self.over = self.seen
        elif one.fault in cleared:
            self.over_alone = self.seen

    @property
    def _is_storm(self) -> bool:
        return self.storm is not None and self.count >= self.storm.at

    def observations(self) -> Iterator[Observation]:
        dropped = self.seen - len(self.first) - len(self.last)
        other_fault = self._is_storm and self.storm is not None and self.storm.fault is not None
        over = self.over if other_fault else max(self.over, self.over_alone)
        for at, one in enumerate((*self.first, *self.last)):
            place = at if at < len(self.first) else at + dropped
            weighed = self._weigh(one)
            if at == len(self.first) - 1 and self.skipped:
                weighed = replace(weighed, count=weighed.count + self.skipped)
            yield replace(weighed, role="note") if place < over else weighed

    def _weigh(self, one: Observation) -> Observation:
        """A sign that was repeated (or says itself how often it happened) may mean another fault; one that was not, less."""
        if not self.storm:
            return one
        if self._is_storm:
            return replace(one, fault=self.storm.fault) if self.storm.fault else one
        return one if self.storm.fault else replace(one, role="note")


class Clear(NamedTuple):
    """What a line took back: faults or signatures, at a part or at any."""

    names: tuple[str, ...]
    component: str | None


class Tally:
    def __init__(self) -> None:
        self._records: dict[Key, Record] = {}
        # By name and part: those with signs that no line took back by this name, so that a line which repeats it finds nothing to do.
        self._open: dict[str, dict[str | None, dict[Key, Record]]] = defaultdict(lambda: defaultdict(dict))
        self.clears: set[Clear] = set()

    def add(self, hit: Hit) -> None:
        seen = hit.seen
        if hit.clears:
            self._take_back(hit.clears, seen)
            return
        key = self._key(seen)
        if key not in self._records and len(self._records) >= MOST_KINDS:
            seen = replace(seen, component=None, subject="")
            key = self._key(seen)
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = Record(hit.storm)
        record.add(seen)
        for name in record.names:
            self._open[name][seen.component][key] = record

    @staticmethod
    def _key(seen: Observation) -> Key:
        return seen.signature or seen.fault, seen.fault + seen.role, seen.component, seen.node, seen.boot

    def _take_back(self, cleared: tuple[str, ...], clear: Observation) -> None:
        """What a later line takes back stays as a note: it happened, but it is over."""
        if len(self.clears) < MOST_KINDS:
            self.clears.add(Clear(cleared, clear.component))
        for name in cleared:
            parts = self._open[name]
            for component in list(parts) if clear.component is None else (clear.component, None):
                for record in parts.pop(component, {}).values():
                    record.take_back(cleared)

    def observations(self) -> list[Observation]:
        return [one for record in self._records.values() for one in record.observations()]
