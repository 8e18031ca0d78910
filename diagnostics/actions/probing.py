"""Runs one probe of a run: claimed, run outside any transaction, its evidence kept, marked done."""

import os
import socket
import time
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from diagnostics.actions import evidence
from diagnostics.actions.transports import transport_to
from diagnostics.models import DiagnosticRun, ProbeResult
from diagnostics.probes import table
from diagnostics.probes.base import Context, ProbeOutput, could_not_check
from incidents.domain.actors import SICKBAY

State, Outcome = ProbeResult.State, ProbeResult.Outcome
MAX_ATTEMPTS = 3
MARGIN_SECONDS = 15.0
DIED = f"The worker died in the middle of it {MAX_ATTEMPTS} times."
# What a probe could read is judged later, all of a run together; only then is it clean or not.
ENDED: dict[str, str] = {"ok": "", "could_not_check": Outcome.COULD_NOT_CHECK, "not_supported": Outcome.NOT_SUPPORTED}


def take_probe(probe_result_id: int, *, at: datetime) -> bool:
    """Claim the probe and run it; False if there was nothing to do. Called twice, it runs once."""
    claimed = _claim(probe_result_id, at=at)
    if claimed is None:
        return False
    if claimed.attempts > MAX_ATTEMPTS:
        return _finish(claimed, could_not_check(DIED), at=at)
    started = time.monotonic()
    output = _run(claimed)
    ended = at + timedelta(seconds=time.monotonic() - started)
    for captured in output.evidence:
        evidence.record(evidence.store(captured), run=claimed.run, probe=claimed.probe, by=SICKBAY, at=ended)
    return _finish(claimed, output, at=ended)


def lease_seconds(probe: str) -> float:
    spec = table.PROBES.get(probe)
    return (spec.deadline_seconds if spec else 0) + MARGIN_SECONDS


def _claim(pk: int, *, at: datetime) -> ProbeResult | None:
    row = ProbeResult.objects.filter(pk=pk).first()
    if row is None:
        return None
    free = Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=at)
    claimed = ProbeResult.objects.filter(free, pk=pk, run__state__in=DiagnosticRun.UNFINISHED).update(
        state=State.RUNNING,
        lease_until=at + timedelta(seconds=lease_seconds(row.probe)),
        attempts=F("attempts") + 1,
        started_at=at,
        worker=f"{socket.gethostname()}:{os.getpid()}"[:120],
    )
    if not claimed:
        return None
    DiagnosticRun.objects.filter(pk=row.run_id, state=DiagnosticRun.State.WAITING).update(
        state=DiagnosticRun.State.RUNNING, started_at=at
    )
    return ProbeResult.objects.select_related("run__node", "run__incident").get(pk=pk)


def _run(row: ProbeResult) -> ProbeOutput:
    node, spec = row.run.node, table.PROBES.get(row.probe)
    if spec is None:
        return could_not_check(f"This version has no probe '{row.probe}'.")
    transport = transport_to(node)
    if transport is None:
        return could_not_check("There is no way to this node any more.")
    return table.run(spec, Context(transport, row.run.since, node.expected_gpus if node else None))


def _finish(row: ProbeResult, output: ProbeOutput, *, at: datetime) -> bool:
    """Only for the attempt that holds the lease: one that was thought dead and comes back late changes nothing."""
    with transaction.atomic():
        mine = ProbeResult.objects.filter(pk=row.pk, state=State.RUNNING, attempts=row.attempts)
        return bool(
            mine.update(
                state=State.DONE,
                outcome=ENDED[output.status],
                reason=output.reason.replace("\0", "")[:500],
                finished_at=at,
                lease_until=None,
            )
        )
