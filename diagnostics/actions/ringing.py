"""Tells the queue of work that nobody has taken. The rows are the truth; a ring that is lost is rung again."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.db.models import Exists, OuterRef, Q
from kombu.exceptions import KombuError

from diagnostics import queries
from diagnostics.actions.probing import lease_seconds
from diagnostics.models import DiagnosticRun, ProbeResult

log = logging.getLogger(__name__)

RING_AGAIN = timedelta(seconds=5)
EXPIRES_SECONDS = 60.0
JUDGE_SECONDS = 240
BATCH = 200
BROKER_ERRORS = (KombuError, OSError)  # kombu wraps what the client of the broker raises
_is_silent = False


def ring_waiting(*, at: datetime) -> int:
    """Ring for probes and runs that wait or whose worker died; returns how many. A broker that is down costs nothing but time."""
    count = 0
    try:
        for name, row, limit in _due(at=at):
            type(row).objects.filter(pk=row.pk).update(
                rung_at=at
            )  # before the ring: a broker that hangs is not asked again at once
            current_app.send_task(name, args=(row.pk,), retry=False, expires=EXPIRES_SECONDS, time_limit=int(limit))
            count += 1
    except BROKER_ERRORS as error:
        _say(f"The queue cannot be reached ({error}); runs wait, alerts and incidents go on.")
        return count
    if count:
        _say("")
    return count


def _due(*, at: datetime) -> Iterator[tuple[str, Any, float]]:
    for probe in waiting_probes(at=at):
        yield "diagnostics.tasks.take_probe", probe, lease_seconds(probe.probe)
    for run in runs_to_judge(at=at):
        yield "diagnostics.tasks.judge_run", run, JUDGE_SECONDS


def waiting_probes(*, at: datetime) -> list[ProbeResult]:
    """Waiting, or with a lease that ran out, and not rung for lately; automatic runs only as the budget allows."""
    unrung = Q(rung_at=None) | Q(rung_at__lte=at - RING_AGAIN)
    free = Q(state=ProbeResult.State.WAITING, due_at__lte=at) | Q(state=ProbeResult.State.RUNNING, lease_until__lt=at)
    rows = (
        ProbeResult.objects.filter(
            free, unrung, run__state__in=(DiagnosticRun.State.WAITING, DiagnosticRun.State.RUNNING)
        )
        .select_related("run__node")
        .order_by("run_id", "id")[:BATCH]
    )
    budget = queries.Budget.now()
    return [row for row in rows if budget.takes(row.run)]


def runs_to_judge(*, at: datetime) -> list[DiagnosticRun]:
    unrung = Q(rung_at=None) | Q(rung_at__lte=at - RING_AGAIN)
    free = Q(judge_lease_until=None) | Q(judge_lease_until__lt=at)
    pending = ProbeResult.objects.filter(run=OuterRef("pk")).exclude(state=ProbeResult.State.DONE)
    unfinished = DiagnosticRun.objects.filter(free, unrung, state__in=DiagnosticRun.UNFINISHED)
    return list(unfinished.filter(~Exists(pending)).order_by("id")[:BATCH])


def _say(problem: str) -> None:
    """Once when the queue falls silent, once when it is back."""
    global _is_silent
    if problem and not _is_silent:
        log.warning(problem)
    if not problem and _is_silent:
        log.warning("The queue answers again.")
    _is_silent = bool(problem)
