"""Counts and times of a period, from plain facts. Terms as in IEC 60050-192: MTTR is the mean time to *restoration*."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class IncidentFact:
    """One incident as the statistics see it. `subject` is the key of the node or job; times are aware and in UTC."""

    id: int
    severity: str
    fault: str
    family: str
    subject: str
    state: str
    disposition: str
    declared_at: datetime
    acknowledged_at: datetime | None
    restored_at: datetime | None
    impact_started_at: datetime


@dataclass(frozen=True)
class Counted:
    """A number with the rows behind it."""

    label: str
    ids: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Durations:
    """A set of waiting times: how many are known, how many still run at the end of the period, median and 90th percentile."""

    ids: tuple[int, ...]
    running: tuple[int, ...]
    median: timedelta | None
    p90: timedelta | None


def quantile(values: Sequence[timedelta], q: float) -> timedelta | None:
    """The q-quantile by linear interpolation between the order statistics (Hyndman and Fan 1996, type 7); None of no values."""
    if not values:
        return None
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def counted(facts: Iterable[IncidentFact], key: Callable[[IncidentFact], str]) -> tuple[Counted, ...]:
    """Facts by key, the most frequent first, equal ones by label."""
    facts = list(facts)
    totals = Counter(key(fact) for fact in facts)
    order = sorted(totals, key=lambda label: (-totals[label], label))
    return tuple(Counted(label, tuple(fact.id for fact in facts if key(fact) == label)) for label in order)


def durations(
    facts: Iterable[IncidentFact],
    begin: Callable[[IncidentFact], datetime],
    end: Callable[[IncidentFact], datetime | None],
    *,
    until: datetime,
) -> Durations:
    """Times from begin to end. What had not ended by `until` counts as running, not as zero and not as ended."""
    facts = list(facts)
    ended = [(fact, finish) for fact in facts if (finish := end(fact)) is not None and finish < until]
    times = [finish - begin(fact) for fact, finish in ended]
    done = {fact.id for fact, _finish in ended}
    return Durations(
        tuple(fact.id for fact, _finish in ended),
        tuple(fact.id for fact in facts if fact.id not in done),
        quantile(times, 0.5),
        quantile(times, 0.9),
    )


def is_failure(fact: IncidentFact) -> bool:
    """Of the dispositions only "no trouble found" counts as a failure; merged incidents are counted in the one that took them."""
    return fact.state != "merged" and fact.disposition in {"", "no_trouble_found"}


def recurrences(
    facts: Iterable[IncidentFact], earlier: Iterable[IncidentFact], *, window: timedelta = timedelta(days=30)
) -> tuple[int, ...]:
    """The ids of the facts whose subject had the same family within the window before, counted from the earlier one's restoration.

    `earlier` holds the failures of the window before the period; an earlier one that was not restored yet makes no recurrence.
    """
    facts = list(facts)
    history = sorted(
        {fact.id: fact for fact in (*earlier, *facts)}.values(), key=lambda fact: (fact.declared_at, fact.id)
    )
    back: list[int] = []
    restored: dict[tuple[str, str], list[datetime]] = {}
    wanted = {fact.id for fact in facts}
    for fact in history:
        key = (fact.subject, fact.family)
        past = [moment for moment in restored.get(key, []) if moment <= fact.declared_at]
        if fact.id in wanted and past and fact.declared_at - max(past) <= window:
            back.append(fact.id)
        if fact.restored_at is not None:
            restored.setdefault(key, []).append(fact.restored_at)
    return tuple(back)


@dataclass(frozen=True)
class Month:
    """The figures of a period [start, end) as of a moment."""

    start: datetime
    end: datetime
    as_of: datetime
    all: Counted
    failures: Counted
    by_severity: tuple[Counted, ...]
    by_fault: tuple[Counted, ...]
    acknowledge: Durations
    restore: Durations
    recurrent: tuple[int, ...]

    @property
    def recurrence_share(self) -> float | None:
        """Recurrences over failures, 0 to 1; None of no failures."""
        return len(self.recurrent) / self.failures.count if self.failures.count else None


def month(
    facts: Iterable[IncidentFact], earlier: Iterable[IncidentFact], *, start: datetime, end: datetime, as_of: datetime
) -> Month:
    """The figures of the incidents declared in [start, end). Later ends are unknown: times are clipped at `as_of`."""
    facts = [fact for fact in facts if start <= fact.declared_at < end and fact.state != "merged"]
    failures = [fact for fact in facts if is_failure(fact)]
    until = as_of + timedelta(microseconds=1)
    return Month(
        start,
        end,
        as_of,
        Counted("all", tuple(fact.id for fact in facts)),
        Counted("failures", tuple(fact.id for fact in failures)),
        tuple(sorted(counted(failures, lambda fact: fact.severity), key=lambda row: row.label)),
        counted(failures, lambda fact: fact.fault),
        durations(facts, lambda fact: fact.declared_at, lambda fact: fact.acknowledged_at, until=until),
        durations(failures, lambda fact: fact.impact_started_at, lambda fact: fact.restored_at, until=until),
        recurrences(failures, filter(is_failure, earlier)),
    )
