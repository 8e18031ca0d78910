"""Proves a repair: starts the run, and answers the incident when it is judged."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from diagnostics import queries
from diagnostics.actions import evidence, runs
from diagnostics.actions.transports import transport_to
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.text import decode
from diagnostics.models import DiagnosticRun
from incidents.actions import fleet, lifecycle
from incidents.actions.rights import Actor
from incidents.domain import faults
from incidents.domain.actors import SICKBAY
from incidents.domain.workflow import Move, State
from incidents.models import Incident

SPEAKS = (DiagnosticRun.Purpose.VERIFY, DiagnosticRun.Purpose.UPLOAD)


def verify(incident: Incident, *, by: Actor, at: datetime) -> DiagnosticRun | None:
    """A fresh run that judges only what was printed since the repair. None where the fault asks for no probe or none can run."""
    if faults.get(incident.fault).verify != "probe" or incident.state != State.VERIFYING:
        return None
    if transport_to(incident.node) is None:
        runs.no_way(incident, at=at)
        return None
    for stale in queries.unfinished_verifications(incident, before=incident.verifying_at):
        runs.cancel(stale, by=SICKBAY, at=at, reason="A newer verification begins.")
    since = repair_began_at(incident)
    return runs.start(incident=incident, plan="verify", purpose=DiagnosticRun.Purpose.VERIFY, since=since, by=by, at=at)


def repair_began_at(incident: Incident) -> datetime | None:
    """The last repair: it began when work began, or when the proof of the one before failed."""
    failed = incident.verifications.filter(passed=False).order_by("at").last()
    reopened = incident.timeline.filter(kind=Move.REOPEN).order_by("at").last()
    if failed and reopened and failed.at < reopened.at:
        failed = None  # of a treatment that has ended
    times = [incident.repair_started_at, failed.at if failed else None]
    return max((at for at in times if at), default=incident.verifying_at)


def answer(run: DiagnosticRun, *, at: datetime) -> None:
    """Record on the incident whether the run proves the repair; a run from before the repair proves nothing.

    What could not be checked is neither: it is told, and the incident goes on verifying.
    """
    incident = run.incident
    if incident is None or incident.state != State.VERIFYING or incident.verifying_at is None:
        return
    way = faults.get(incident.fault).verify
    if way != "probe" or run.created_at < incident.verifying_at:
        return
    result = _says(run, incident)
    if result is None:
        return
    if result.passed is None:
        _unclear(run, incident, result.reason, at=at)
        return
    lifecycle.record_verification(
        incident, kind=way, passed=result.passed, reason=result.reason, reference=f"run:{run.pk}", by=SICKBAY, at=at
    )


def _says(run: DiagnosticRun, incident: Incident) -> queries.Proof | None:
    """Evidence given by hand may always show that the fault is still there; it proves the repair only where no run can."""
    if run.purpose == DiagnosticRun.Purpose.VERIFY:
        return queries.proof(run, incident.family)
    if run.purpose != DiagnosticRun.Purpose.UPLOAD:
        return None
    result = queries.proof_of_upload(run, incident.family)
    if result.passed and (why := _stale(run, incident)):
        result = queries.Proof(None, why)
    no_run_can = transport_to(incident.node) is None or queries.is_unclear(incident)
    return result if result.passed is False or no_run_can else None


def _unclear(run: DiagnosticRun, incident: Incident, reason: str, *, at: datetime) -> None:
    with transaction.atomic():
        Incident.objects.select_for_update().get(pk=incident.pk)  # the same run must not be told of twice
        if not incident.timeline.filter(kind="verification_unclear", data__run=run.pk).exists():
            runs.note(incident, "verification_unclear", by=SICKBAY, at=at, text=reason, run=run.pk)


def _stale(run: DiagnosticRun, incident: Incident) -> str:
    """Why a clean log proves nothing: it is another machine's, or ends before the repair, or does not say when; "" if it does."""
    for row in queries.evidence_to_judge(run):
        lines = [line for line in Log.of(decode(evidence.read(row))).tail() if line.prefixed]
        hosts = {line.host.lower() for line in lines if line.host}
        if lines and hosts and incident.node and not any(fleet.find_node(host) == incident.node for host in hosts):
            return _("%(name)s is of another host: %(hosts)s.") % {
                "name": row.name,
                "hosts": ", ".join(sorted(hosts)[:3]),
            }
        times = [line.moment.at for line in lines if line.moment.at and line.moment.has_year]
        if lines and (not times or max(times) < (run.since or run.created_at)):
            return _(
                "%(name)s has no line from after the repair. Give one with dates, such as that of journalctl or dmesg -T."
            ) % {"name": row.name}
    return ""
