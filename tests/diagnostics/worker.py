"""The pager and the worker, by hand: what they would do in turn, without a queue."""

from datetime import datetime

from diagnostics.actions import judging, probing, ringing
from diagnostics.models import DiagnosticRun
from incidents.actions import reactions


def work_off(*, at: datetime) -> None:
    """Until nothing is left to do."""
    while _turn(at=at):
        pass


def work(run: DiagnosticRun, *, at: datetime) -> DiagnosticRun:
    """Probe and judge one run."""
    for row in run.probes.all():
        probing.take_probe(row.pk, at=at)
    judging.judge(run.pk, at=at)
    run.refresh_from_db()
    return run


def _turn(*, at: datetime) -> int:
    done = reactions.react(at=at)
    done += sum(probing.take_probe(row.pk, at=at) for row in ringing.waiting_probes(at=at))
    return done + sum(judging.judge(run.pk, at=at) for run in ringing.runs_to_judge(at=at))
