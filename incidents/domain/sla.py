"""The clocks of an incident against what its tier promises. Values in, values out."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from incidents.domain.severity import TARGETS, Tier

RISK_SHARE = 0.8  # of the target gone: the clock is at risk


class Stage(StrEnum):
    ACKNOWLEDGE = "acknowledge"
    MITIGATE = "mitigate"
    RESTORE = "restore"


@dataclass(frozen=True)
class Times:
    """What the clocks are read from; `ended_at` is the moment from which nothing runs any more (closed, merged)."""

    tier: str
    declared_at: datetime
    acknowledged_at: datetime | None = None
    mitigated_at: datetime | None = None
    restored_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True)
class Clock:
    """One promise: how long it took or runs, against its target. A clock that was stopped undone is neither met nor missed."""

    stage: Stage
    elapsed: timedelta
    target: timedelta
    done: bool
    running: bool

    @property
    def left(self) -> timedelta:
        return self.target - self.elapsed

    @property
    def share(self) -> int:
        """Per cent of the target that is gone, at most 100."""
        return min(100, int(100 * (self.elapsed / self.target)))

    @property
    def standing(self) -> str:
        """ "over", "risk" (only while it runs) or ""."""
        if self.elapsed > self.target and (self.done or self.running):
            return "over"
        return "risk" if self.running and self.elapsed >= RISK_SHARE * self.target else ""


def clocks(times: Times, *, at: datetime) -> tuple[Clock, ...]:
    """The three clocks, in the order in which they end. Restoring ends the mitigation too: there is no impact any more."""
    targets = TARGETS[Tier(times.tier)]
    mitigated = times.mitigated_at or times.restored_at
    ends = (
        (Stage.ACKNOWLEDGE, targets.acknowledge, times.acknowledged_at or mitigated),
        (Stage.MITIGATE, targets.mitigate, mitigated),
        (Stage.RESTORE, targets.restore, times.restored_at),
    )
    return tuple(_clock(stage, target, done_at, times, at=at) for stage, target, done_at in ends)


def _clock(stage: Stage, target: timedelta, done_at: datetime | None, times: Times, *, at: datetime) -> Clock:
    until = done_at or times.ended_at or at
    return Clock(
        stage, max(until - times.declared_at, timedelta()), target, done_at is not None, not (done_at or times.ended_at)
    )


def next_clock(times: Times, *, at: datetime) -> Clock | None:
    """The clock that ends first of those that run; None when none runs."""
    return min((clock for clock in clocks(times, at=at) if clock.running), key=lambda clock: clock.left, default=None)
