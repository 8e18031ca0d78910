"""The life of an incident: opened, answered, treated, verified, closed. Each verb is safe to repeat."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from incidents import events, queries
from incidents.actions import journal, tiers
from incidents.actions.held import locked, move
from incidents.actions.rights import Actor, person, require
from incidents.domain import faults, severity
from incidents.domain.workflow import Disposition, Move, State
from incidents.lib.errors import Invalid, Refused
from incidents.models import Cluster, Incident, Job, Node, Rack, Team, User

REOPEN_WINDOW = timedelta(hours=72)


@dataclass(frozen=True)
class Subject:
    """What is ill; exactly one of the three is there."""

    node: Node | None = None
    rack: Rack | None = None
    job: Job | None = None

    @property
    def row(self) -> Node | Rack | Job:
        found = self.node or self.rack or self.job
        if found is None:
            raise Invalid(_("Name a node, a rack or a job."))
        return found

    @property
    def key(self) -> str:
        return f"{self.row._meta.model_name}:{self.row.pk}"

    @property
    def cluster(self) -> Cluster:
        return self.row.cluster

    @property
    def team(self) -> Team | None:
        return getattr(self.row, "team", None)


def open_incident(
    subject: Subject,
    fault_code: str,
    *,
    by: Actor,
    at: datetime,
    started_at: datetime | None = None,
    detected_at: datetime | None = None,
    team: Team | None = None,
    tier: str = "",
    text: str = "",
    **data: Any,
) -> tuple[Incident, bool]:
    """The open incident of this subject and fault family, and whether it is new. Two callers at once get the same one."""
    require(by, "incident.open", subject.row)
    fault = faults.get(fault_code)
    known = queries.standing_incident(subject.key, fault.family)
    if known:
        return known, False
    with transaction.atomic():
        # The savepoint: on PostgreSQL the loser of the race must be able to read on in this transaction.
        try:
            with transaction.atomic():
                incident = _insert(subject, fault, at=at, started_at=started_at, detected_at=detected_at, team=team)
        except IntegrityError:
            return queries.open_incident_of(subject.key, fault.family), False
        if tier:
            incident.severity = incident.peak_severity = severity.Tier(tier)
            incident.severity_rule = tiers.BY_PERSON
            incident.save(update_fields=["severity", "peak_severity", "severity_rule"])
        journal.note(
            incident,
            "opened",
            by=by,
            at=at,
            text=text,
            severity=incident.severity,
            rule=incident.severity_rule,
            fault=fault.code,
            recurrence_of=incident.recurrence_of.reference if incident.recurrence_of else "",
            **data,
        )
        events.announce("incident_opened", at=at, incident=incident.pk)
    return incident, True


def _insert(
    subject: Subject,
    fault: faults.Fault,
    *,
    at: datetime,
    started_at: datetime | None,
    detected_at: datetime | None,
    team: Team | None,
) -> Incident:
    choice = tiers.choose(fault, node=subject.node, environment=subject.cluster.environment, at=at)
    return Incident.objects.create(
        title=fault.title,
        fault=fault.code,
        family=fault.family,
        subject_key=subject.key,
        node=subject.node,
        rack=subject.rack or getattr(subject.node, "rack", None),
        job=subject.job,
        cluster=subject.cluster,
        team=team or subject.team,
        severity=choice.tier,
        peak_severity=choice.tier,
        severity_rule=choice.rule,
        impact_started_at=min(started_at or at, at),
        detected_at=min(detected_at or at, at),
        declared_at=at,
        state_at=at,
        recurrence_of=queries.earlier_incident(subject.key, fault.family),
    )


def acknowledge(incident: Incident, *, by: User, at: datetime) -> None:
    """Somebody has it now; the one who answers first becomes the owner."""
    require(by, "incident.acknowledge", incident)
    with locked(incident) as row:
        if row.state != State.OPEN:
            return  # answered already; a second tap is no error
        move(row, Move.ACKNOWLEDGE, by=by, at=at)
        row.acknowledged_at = row.acknowledged_at or at
        row.assignee = row.assignee or by


def unacknowledge(incident: Incident, *, by: Actor, at: datetime, text: str = "") -> None:
    require(by, "incident.acknowledge", incident)
    with locked(incident) as row:
        if row.state == State.OPEN:
            return
        move(row, Move.UNACKNOWLEDGE, by=by, at=at, text=text)


def assign(incident: Incident, *, to: User | None, by: User, at: datetime) -> None:
    """Make somebody the owner; whoever takes an incident for himself acknowledges it too."""
    require(by, "incident.assign", incident)
    with locked(incident) as row:
        if row.assignee_id == (to.pk if to else None):
            return
        row.assignee = to
        journal.note(row, "assigned", by=by, at=at, to=str(to) if to else "")
    if to == by and incident.state == State.OPEN:
        acknowledge(incident, by=by, at=at)


def add_note(incident: Incident, *, text: str, by: Actor, at: datetime) -> None:
    require(by, "incident.note", incident)
    if not text.strip():
        raise Invalid(_("The note is empty. Write something."))
    with locked(incident) as row:
        journal.note(row, "note", by=by, at=at, text=text.strip())


def mitigate(incident: Incident, *, by: User, at: datetime, text: str = "") -> None:
    """The impact has ended: drained, failed over, restarted elsewhere."""
    require(by, "incident.move", incident)
    with locked(incident) as row:
        if row.state == State.MITIGATED:
            return
        move(row, Move.MITIGATE, by=by, at=at, text=text)
        row.mitigated_at = row.mitigated_at or at


def start_repair(incident: Incident, *, by: Actor, at: datetime, text: str = "") -> None:
    require(by, "incident.move", incident)
    with locked(incident) as row:
        if row.state == State.REPAIRING:
            return
        move(row, Move.START_REPAIR, by=by, at=at, text=text)
        row.repair_started_at = at


def wait_for(incident: Incident, *, reason: str, note: str = "", by: User, at: datetime) -> None:
    """The work rests until a part, the vendor, access or a window is there."""
    require(by, "incident.move", incident)
    if reason not in {choice.value for choice in incident.waits.model.Reason}:
        raise Invalid(_("Choose what the incident waits for: a part, the vendor, access or a window."))
    with locked(incident) as row:
        if not row.is_open:
            raise Refused(
                _("Only an open incident can wait. This one is %(state)s.") % {"state": row.get_state_display()}
            )
        row.waits.filter(until=None).update(until=at)
        row.waits.create(reason=reason, note=note[:500], since=at)
        journal.note(row, "waits", by=by, at=at, text=note, reason=reason)


def resume(incident: Incident, *, by: Actor, at: datetime) -> None:
    """What was waited for has come."""
    require(by, "incident.move", incident)
    with locked(incident) as row:
        if row.waits.filter(until=None).update(until=at):
            journal.note(row, "resumed", by=by, at=at)


def start_verifying(incident: Incident, *, by: User, at: datetime) -> None:
    """The repair is done; now it has to be proved the way the fault asks."""
    require(by, "incident.move", incident)
    with locked(incident) as row:
        if row.state == State.VERIFYING:
            return
        move(row, Move.START_VERIFYING, by=by, at=at)
        row.verifying_at = at
        row.waits.filter(until=None).update(until=at)


def record_verification(
    incident: Incident, *, kind: str, passed: bool, reason: str, by: Actor, at: datetime, reference: str = ""
) -> None:
    """Add an answer; a failed one sends the incident back to repair. The same reference is recorded once."""
    require(by, "incident.move", incident)
    with locked(incident) as row:
        if row.state != State.VERIFYING:
            raise Refused(_("Start verifying first; the incident is %(state)s.") % {"state": row.get_state_display()})
        if reference and row.verifications.filter(reference=reference).exists():
            return
        row.verifications.create(kind=kind, passed=passed, at=at, by=person(by), reason=reason, reference=reference)
        if passed:
            journal.note(row, "verified", by=by, at=at, text=reason, reference=reference)
        else:
            move(row, Move.FAIL_VERIFICATION, by=by, at=at, text=reason, reference=reference)


def vouch(incident: Incident, *, note: str, by: User, at: datetime) -> None:
    """A named person says, with a note, that it holds: for faults that ask for a person, a job's progress or nothing."""
    require(by, "incident.move", incident)
    if not note.strip():
        raise Invalid(_("Write what you checked; it stays with your name."))
    way = faults.get(incident.fault).verify
    if way == "probe":
        raise Refused(_("This fault is proved by a clean diagnostic run, not by a note. Start a verification run."))
    record_verification(incident, kind=way, passed=True, reason=note.strip(), by=by, at=at)


def restore(incident: Incident, *, by: User, at: datetime) -> None:
    """Back in service, proved. Refused, with what is missing, until the verification that the fault asks for has passed."""
    require(by, "incident.move", incident)
    with locked(incident) as row:
        if row.state == State.RESTORED:
            return
        missing = queries.missing_for_restore(row)
        if missing:
            raise Refused(_("%(reference)s cannot be restored yet.") % {"reference": row.reference}, missing)
        move(row, Move.RESTORE, by=by, at=at)
        row.restored_at = at


def close(incident: Incident, *, by: User, at: datetime, disposition: str = "", note: str = "") -> None:
    """The paperwork is done. From `restored` every closure check must agree; before that only with a disposition and a reason."""
    require(by, "incident.close", incident)
    if disposition and disposition not in set(Disposition):
        raise Invalid(_("Choose a disposition: not a fault, no trouble found, duplicate or expected."))
    if disposition and not note.strip():
        raise Invalid(_("Say why it is closed without a repair."))
    with locked(incident) as row:
        if row.state == State.CLOSED:
            return
        if disposition:
            move(row, Move.CLOSE_WITH_DISPOSITION, by=by, at=at, text=note, disposition=disposition)
        else:
            missing = tuple(answer.detail for answer in queries.closure_answers(row) if not answer.met)
            if row.state == State.RESTORED and missing:
                raise Refused(_("%(reference)s cannot be closed yet.") % {"reference": row.reference}, missing)
            move(row, Move.CLOSE, by=by, at=at, text=note)
        row.disposition, row.closed_at = disposition, at
        row.waits.filter(until=None).update(until=at)


def reopen(incident: Incident, *, by: Actor, at: datetime, text: str = "") -> Incident:
    """Open it again within 72 h of its end. If another is open for the same subject and family by now, that one is returned."""
    require(by, "incident.move", incident)
    other = queries.open_incidents().filter(subject_key=incident.subject_key, family=incident.family).first()
    if other:
        return other
    ended = incident.restored_at or incident.closed_at  # not from the paperwork, which may come weeks later
    if ended and at - ended > REOPEN_WINDOW:
        raise Refused(_("It ended more than 72 hours ago. Open a new incident; it will be linked as a recurrence."))
    with locked(incident) as row:
        move(row, Move.REOPEN, by=by, at=at, text=text)
        row.disposition = ""
        row.restored_at = row.closed_at = row.mitigated_at = row.repair_started_at = row.verifying_at = None
    return incident
