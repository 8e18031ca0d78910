"""Starts and ends diagnostic runs."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from diagnostics import queries
from diagnostics.actions.transports import transport_to
from diagnostics.models import DiagnosticRun, ProbeResult
from diagnostics.probes.table import PLANS, PROBES
from incidents.actions import journal
from incidents.actions.rights import Actor, name_of, person, require
from incidents.domain.actors import SICKBAY, Machine
from incidents.lib import doorbell
from incidents.lib.errors import Invalid, Refused
from incidents.models import Incident, Node

Purpose, State = DiagnosticRun.Purpose, DiagnosticRun.State
AT_ONCE = timedelta(0)


def start(
    *,
    node: Node | None = None,
    incident: Incident | None = None,
    plan: str = "triage",
    purpose: str = Purpose.MANUAL,
    since: datetime | None = None,
    by: Actor,
    at: datetime,
    due_in: timedelta = AT_ONCE,
) -> DiagnosticRun:
    """A run of the plan's probes on the node (that of the incident, if none is named). An unfinished run of the same purpose is returned.

    `due_in` keeps the queue away for a while, for a caller that runs the probes itself.
    """
    node = node or (incident.node if incident else None)
    require(by, "run.start", incident or node)
    _check(node, plan, purpose)
    try:
        with transaction.atomic():
            run = _insert(node, incident, plan, purpose, since, by, at)
            ProbeResult.objects.bulk_create(
                ProbeResult(run=run, probe=name, version=PROBES[name].version, due_at=at + due_in)
                for name in PLANS[plan]
            )
            _tell(run, by=by, at=at)
            transaction.on_commit(doorbell.ring)
    except IntegrityError:
        return queries.newest_run(incident=incident, node=node, purpose=purpose)
    return run


def cancel(run: DiagnosticRun, *, by: Actor, at: datetime, reason: str = "") -> None:
    """Nothing more is run or judged; what was kept stays."""
    require(by, "run.start", run.incident or run.node)
    with transaction.atomic():
        ended = DiagnosticRun.objects.filter(pk=run.pk, state__in=DiagnosticRun.UNFINISHED).update(
            state=State.CANCELLED, finished_at=at
        )
        if ended and run.incident:
            note(run.incident, "run_cancelled", by=by, at=at, text=reason, run=run.pk)
    run.refresh_from_db()


def no_way(incident: Incident, *, at: datetime) -> None:
    """Say on the timeline, once, that no probe can be run there and what to do instead."""
    with transaction.atomic():
        Incident.objects.select_for_update().get(pk=incident.pk)  # two who say it at once would both find it unsaid
        if not incident.timeline.filter(kind="no_transport").exists():
            note(incident, "no_transport", by=SICKBAY, at=at, node=str(incident.node))


def note(incident: Incident, kind: str, *, by: Actor, at: datetime, text: str = "", **data: object) -> None:
    """A timeline entry, and the count by which live pages notice it; inside the transaction of what it tells."""
    journal.note(incident, kind, by=by, at=at, text=text, **data)
    Incident.objects.filter(pk=incident.pk).update(version=F("version") + 1)


def _check(node: Node | None, plan: str, purpose: str) -> None:
    if plan not in PLANS:
        raise Invalid(_("There is no plan '%(plan)s'. Plans: %(plans)s.") % {"plan": plan, "plans": ", ".join(PLANS)})
    if purpose not in (Purpose.TRIAGE, Purpose.VERIFY, Purpose.MANUAL):
        raise Invalid(_("A run is started for triage, verify or manual."))
    if node is None:
        raise Refused(_("This incident names no node, so no probe can run. Upload what the job or device printed."))
    if transport_to(node) is None:
        raise Refused(_("There is no way to %(node)s from here. Upload its logs as evidence.") % {"node": node})


def _insert(
    node: Node | None,
    incident: Incident | None,
    plan: str,
    purpose: str,
    since: datetime | None,
    by: Actor,
    at: datetime,
) -> DiagnosticRun:
    return DiagnosticRun.objects.create(
        node=node,
        incident=incident,
        plan=plan,
        purpose=purpose,
        since=since,
        requested_by=person(by),
        requested_by_name=name_of(by)[:120],
        created_at=at,
    )


def _tell(run: DiagnosticRun, *, by: Actor, at: datetime) -> None:
    if run.incident is None:
        return
    is_deferred = isinstance(by, Machine) and not queries.within_budget(run)
    note(
        run.incident, "run_started", by=by, at=at, run=run.pk, plan=run.plan, purpose=run.purpose, deferred=is_deferred
    )
