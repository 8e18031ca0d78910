"""Proves a repair: starts the run, and answers the incident when it is judged."""

from datetime import datetime

from diagnostics import queries
from diagnostics.actions import runs
from diagnostics.actions.transports import transport_to
from diagnostics.models import DiagnosticRun
from incidents.actions import lifecycle
from incidents.actions.rights import Actor
from incidents.domain import faults
from incidents.domain.actors import SICKBAY
from incidents.domain.workflow import State
from incidents.models import Incident


def verify(incident: Incident, *, by: Actor, at: datetime) -> DiagnosticRun | None:
    """A fresh run that judges only what was printed since the repair. None where the fault asks for no probe or none can run."""
    if faults.get(incident.fault).verify != "probe" or incident.state != State.VERIFYING:
        return None
    if transport_to(incident.node) is None:
        runs.no_way(incident, at=at)
        return None
    for stale in queries.unfinished_verifications(incident, before=incident.verifying_at):
        runs.cancel(stale, by=SICKBAY, at=at, reason="A newer verification begins.")
    since = _repair_began_at(incident)
    return runs.start(incident=incident, plan="verify", purpose=DiagnosticRun.Purpose.VERIFY, since=since, by=by, at=at)


def _repair_began_at(incident: Incident) -> datetime | None:
    """The last repair: it began when work began, or when the proof of the one before failed."""
    failed = incident.verifications.filter(passed=False).order_by("at").last()
    times = [incident.repair_started_at, failed.at if failed else None]
    return max((at for at in times if at), default=incident.verifying_at)


def answer(run: DiagnosticRun, *, at: datetime) -> None:
    """Record on the incident whether the run proves the repair; a run from before the repair proves nothing."""
    incident = run.incident
    if incident is None or run.purpose != DiagnosticRun.Purpose.VERIFY or incident.state != State.VERIFYING:
        return
    way = faults.get(incident.fault).verify
    if way != "probe" or incident.verifying_at is None or run.created_at < incident.verifying_at:
        return
    result = queries.proof(run, incident.family)
    lifecycle.record_verification(
        incident, kind=way, passed=result.passed, reason=result.reason, reference=f"run:{run.pk}", by=SICKBAY, at=at
    )
