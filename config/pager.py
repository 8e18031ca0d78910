"""The pager: takes what is due from the database and goes on while the queue is down.

The urgent loop runs the `JOBS` (alerts, reactions) in turn, woken by the bell or the clock. A second thread tells the queue of long work
(`RINGS`); it may hang on a broker that does not answer without holding up the first.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from django.db import DatabaseError, connection, reset_queries
from django.utils import timezone

from diagnostics.actions import ringing
from incidents.actions import deliveries, heartbeats, reactions
from incidents.lib import doorbell

log = logging.getLogger(__name__)

HEARTBEAT_EVERY_SECONDS = 5.0
LOOK_EVERY_SECONDS = 1.0
RING_EVERY_SECONDS = 0.5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 15.0


class Act(Protocol):
    """Does what is due and returns how much that was."""

    def __call__(self, *, at: datetime) -> int: ...


@dataclass
class Job:
    """One line of the loop. A job that failed rests a little, longer each time, while the others go on."""

    name: str
    act: Act
    pause_seconds: float = FIRST_PAUSE_SECONDS
    resting_until: float = 0.0


@dataclass
class Heart:
    """Beats at most every few seconds, so that a busy loop does not write all the time."""

    name: str
    every_seconds: float = HEARTBEAT_EVERY_SECONDS
    _next: float = field(default=0.0)

    def __call__(self, *, at: datetime) -> int:
        if time.monotonic() >= self._next:
            heartbeats.beat(self.name, at=at)
            self._next = time.monotonic() + self.every_seconds
        return 0


def jobs() -> list[Job]:
    """What is urgent, in the order in which it is done."""
    return [
        Job("heartbeat", Heart("pager")),
        Job("alerts", deliveries.process_waiting),
        Job("reactions", reactions.react),
    ]


def rings() -> list[Job]:
    """What tells the queue of work; may wait for the broker."""
    return [Job("runs", ringing.ring_waiting)]


def run(stop: threading.Event) -> None:
    """Until `stop` is set. The ringer is a daemon: a broker that hangs does not hold up the end."""
    ringer = threading.Thread(target=ring, args=(stop,), name="ringer", daemon=True)
    ringer.start()
    with doorbell.listen() as bell:
        loop(jobs(), stop, wait=bell.wait, every_seconds=LOOK_EVERY_SECONDS)
    ringer.join(timeout=1.0)


def ring(stop: threading.Event) -> None:
    loop(rings(), stop, wait=stop.wait, every_seconds=RING_EVERY_SECONDS, rests_always=True)


def loop(
    work: Iterable[Job],
    stop: threading.Event,
    *,
    wait: Callable[[float], object],
    every_seconds: float,
    rests_always: bool = False,
) -> None:
    """Turn after turn; at once again while there is work, else after a ring or the time."""
    work = list(work)
    try:
        while not stop.is_set():
            done = sum(turn(job) for job in work)
            reset_queries()
            if rests_always or not done:
                wait(every_seconds)
    finally:
        connection.close()


def turn(job: Job) -> int:
    """Whatever happens in a job stays in it: it is logged, and the job rests."""
    if time.monotonic() < job.resting_until:
        return 0
    try:
        done = job.act(at=timezone.now())
    except Exception as error:
        log.exception("%s failed; again in %g s", job.name, job.pause_seconds)
        if isinstance(error, DatabaseError):
            connection.close()  # a connection that broke stays broken
        job.resting_until = time.monotonic() + job.pause_seconds
        job.pause_seconds = min(job.pause_seconds * 2, LONGEST_PAUSE_SECONDS)
        return 0
    job.pause_seconds = FIRST_PAUSE_SECONDS
    return done
