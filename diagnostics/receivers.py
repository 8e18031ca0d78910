"""What follows from news of below, and from our own."""

from datetime import datetime

from diagnostics.actions import runs, verifying
from diagnostics.actions.transports import transport_to
from diagnostics.events import RUN_FINISHED
from diagnostics.models import DiagnosticRun
from incidents.domain.actors import SICKBAY
from incidents.domain.workflow import Move
from incidents.events import on
from incidents.models import Event, Incident


@on("incident_opened", "diagnose_new_incident")
@on("incident_reopened", "diagnose_reopened_incident")
def diagnose_new_incident(event: Event, at: datetime) -> None:
    incident = Incident.objects.select_related("node").get(pk=event.payload["incident"])
    if incident.node is None or not incident.is_open:
        return
    if transport_to(incident.node) is None:
        runs.no_way(incident, at=at)
        return
    runs.start(incident=incident, plan="triage", purpose=DiagnosticRun.Purpose.TRIAGE, by=SICKBAY, at=at)


@on("incident_changed", "verify_repair")
def verify_repair(event: Event, at: datetime) -> None:
    if event.payload["move"] == Move.START_VERIFYING:
        verifying.verify(Incident.objects.select_related("node").get(pk=event.payload["incident"]), by=SICKBAY, at=at)


@on(RUN_FINISHED, "answer_verification")
def answer_verification(event: Event, at: datetime) -> None:
    if event.payload["purpose"] in verifying.SPEAKS:
        run = DiagnosticRun.objects.select_related("incident__node", "requested_by").get(pk=event.payload["run"])
        verifying.answer(run, at=at)
