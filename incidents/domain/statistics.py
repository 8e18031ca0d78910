"""Counts and times of a period, from plain facts. Terms as in IEC 60050-192: MTTR is the mean time to *restoration*."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

RECURRENCE_WINDOW = timedelta(days=30)
SMALLEST_SAMPLE = 5


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
    was_reopened: bool = False


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
    """A set of waiting times: how many are known, how many still run at the end of the period, median and 90th percentile.

    The 90th percentile of fewer than five values is not given (None): it would be the largest in disguise.
    """

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
    """Times from begin to end. What had not ended by `until` counts as running, not as zero and not as ended; what was closed
    without that end counts as neither."""
    facts = list(facts)
    ended = [(fact, finish) for fact in facts if (finish := end(fact)) is not None and finish < until]
    times = [finish - begin(fact) for fact, finish in ended]
    done = {fact.id for fact, _finish in ended}
    return Durations(
        tuple(fact.id for fact, _finish in ended),
        tuple(fact.id for fact in facts if fact.id not in done and (end(fact) is not None or fact.state != "closed")),
        quantile(times, 0.5),
        quantile(times, 0.9) if len(times) >= SMALLEST_SAMPLE else None,
    )


def is_failure(fact: IncidentFact) -> bool:
    """Of the dispositions only "no trouble found" counts as a failure; merged incidents are counted in the one that took them."""
    return fact.state != "merged" and fact.disposition in {"", "no_trouble_found"}


@dataclass(frozen=True)
class Recurrence:
    """What came back of the failures restored in a period, by ids.

    `eligible` were restored at least a window before `as_of`: of them it is known. `pending` are the others.
    """

    restored: tuple[int, ...]
    eligible: tuple[int, ...]
    pending: tuple[int, ...]
    recurred: tuple[int, ...]
    reopened: tuple[int, ...]

    @property
    def share(self) -> float | None:
        """Recurred over eligible, 0 to 1; None where none is eligible yet."""
        known = set(self.eligible)
        return len(known.intersection(self.recurred)) / len(known) if known else None


def recurrence(
    facts: Iterable[IncidentFact],
    *,
    start: datetime,
    end: datetime,
    as_of: datetime,
    window: timedelta = RECURRENCE_WINDOW,
) -> Recurrence:
    """Of the failures restored in [start, end): those whose subject had the same family again within the window, as a new
    incident, the last day included. One that began before the restoration is concurrent, not a recurrence."""
    failures = [fact for fact in facts if is_failure(fact)]
    declared: dict[tuple[str, str], list[datetime]] = {}
    for fact in failures:
        declared.setdefault((fact.subject, fact.family), []).append(fact.declared_at)
    cohort = [
        (fact, at) for fact in failures if (at := fact.restored_at) is not None and start <= at < end and at <= as_of
    ]

    def came_back(fact: IncidentFact, at: datetime) -> bool:
        return any(at < moment <= at + window for moment in declared[fact.subject, fact.family] if moment <= as_of)

    return Recurrence(
        tuple(fact.id for fact, _at in cohort),
        tuple(fact.id for fact, at in cohort if at + window <= as_of),
        tuple(fact.id for fact, at in cohort if at + window > as_of),
        tuple(fact.id for fact, at in cohort if came_back(fact, at)),
        tuple(fact.id for fact, _at in cohort if fact.was_reopened),
    )


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
    recurrence: Recurrence


def month(facts: Iterable[IncidentFact], *, start: datetime, end: datetime, as_of: datetime) -> Month:
    """The figures of [start, end) as known at `as_of`.

    Counted are the incidents declared in it; recurrence is that of the failures restored in it, so `facts` must reach a recurrence
    window beyond the end, and hold what was declared earlier but restored inside.
    """
    every = [fact for fact in facts if fact.declared_at <= as_of]
    inside = [fact for fact in every if start <= fact.declared_at < end and fact.state != "merged"]
    failures = [fact for fact in inside if is_failure(fact)]
    until = as_of + timedelta(microseconds=1)
    return Month(
        start,
        end,
        as_of,
        Counted("all", tuple(fact.id for fact in inside)),
        Counted("failures", tuple(fact.id for fact in failures)),
        tuple(sorted(counted(failures, lambda fact: fact.severity), key=lambda row: row.label)),
        counted(failures, lambda fact: fact.fault),
        durations(inside, lambda fact: fact.declared_at, lambda fact: fact.acknowledged_at, until=until),
        durations(failures, lambda fact: fact.impact_started_at, lambda fact: fact.restored_at, until=until),
        recurrence(every, start=start, end=end, as_of=as_of),
    )
