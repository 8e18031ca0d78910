"""One alert into the books: its episode, its incident, the part that fires."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet

from incidents import queries
from incidents.actions import fleet, journal, lifecycle, tiers
from incidents.actions.rights import Actor
from incidents.domain import faults, fingerprint
from incidents.domain.actors import Machine
from incidents.lib.errors import Invalid
from incidents.models import Alert, Delivery, Incident, IncidentPart, Source
from incidents.payloads import NormalAlert

Fate = Alert.Fate
TRIES = 3


@dataclass(frozen=True)
class Desk:
    """What all alerts of one delivery share, read once."""

    delivery: Delivery
    source: Source
    speaker: Machine
    matchers: Sequence[fingerprint.Matcher]
    at: datetime

    @classmethod
    def of(cls, delivery: Delivery, *, at: datetime) -> "Desk":
        rows = queries.fault_matchers()
        matchers = [fingerprint.Matcher(row.pattern, row.fault, row.label) for row in rows]
        return cls(delivery, delivery.source, Machine(delivery.source.name, "source"), matchers, at)


def take(alert: NormalAlert, desk: Desk) -> str:
    """Bring the alert into the books, inside the caller's transaction; its fate."""
    if alert.is_heartbeat:
        Source.objects.filter(pk=desk.source.pk).update(last_heartbeat_at=desk.at)
    episodes = Alert.objects.filter(source=desk.source, fingerprint=alert.fingerprint)
    received = desk.delivery.received_at
    # A start in the future would silence all that comes before it; the sender's clock is wrong.
    starts_at = min(alert.starts_at or received, received)
    return (_fire if alert.firing else _clear)(alert, desk, episodes, starts_at)


def _fire(alert: NormalAlert, desk: Desk, episodes: QuerySet[Alert], starts_at: datetime) -> str:
    last = episodes.order_by("-starts_at").first()
    if last and (last.cleared_at is None or last.starts_at >= starts_at):
        # Still the same episode (a later start without a clear between is a refresh), or an old one that comes late.
        Alert.objects.filter(pk=last.pk).update(last_seen_at=desk.at, seen_count=F("seen_count") + 1)
        return Fate.KNOWN
    identity = fingerprint.identify(alert.labels, desk.matchers)
    row = _row(alert, identity, desk, starts_at)
    row.fate = Fate.HEARTBEAT if alert.is_heartbeat else _attach(row, identity, desk)
    row.save()
    return row.fate


def _row(alert: NormalAlert, identity: fingerprint.Identity, desk: Desk, starts_at: datetime) -> Alert:
    return Alert(
        source=desk.source,
        fingerprint=alert.fingerprint,
        starts_at=starts_at,
        first_seen_at=desk.at,
        last_seen_at=desk.at,
        name=alert.name,
        summary=alert.summary,
        labels=dict(alert.labels),
        annotations=dict(alert.annotations),
        severity_hint=alert.severity_hint,
        fault=identity.fault,
        xid=identity.xid,
        locator=identity.locator,
        delivery=desk.delivery,
    )


def _attach(row: Alert, identity: fingerprint.Identity, desk: Desk) -> str:
    """Find or open the incident of this alert, and set the part that fires."""
    subject = _subject(identity, desk)
    if subject is None:
        row.fate_reason = "The labels name no node and no job that could be found."
        return Fate.UNASSIGNED
    row.node, row.job = subject.node, subject.job
    incident, fate = _incident_for(subject, row, desk)
    row.incident = incident
    if fate != Fate.OPENED:
        tiers.rise(incident, row.fault, by=desk.speaker, at=desk.at)
    _set_part(incident, identity, row, is_new=fate == Fate.OPENED, by=desk.speaker, at=desk.at)
    if row.severity_hint.lower() not in fingerprint.KNOWN_SEVERITIES and not incident.needs_mapping:
        Incident.objects.filter(pk=incident.pk).update(needs_mapping=True)
    return fate


def _subject(identity: fingerprint.Identity, desk: Desk) -> lifecycle.Subject | None:
    try:
        if identity.is_job or (identity.job and not identity.node):
            return lifecycle.Subject(job=fleet.job_called(identity.job, cluster=desk.source.cluster, at=desk.at))
        if identity.node:
            return lifecycle.Subject(node=fleet.node_named(identity.node, at=desk.at))
    except Invalid:
        return None
    return None


def _incident_for(subject: lifecycle.Subject, row: Alert, desk: Desk) -> tuple[Incident, str]:
    """The incident, open and held to the end of the transaction: between the look and the hold somebody may have closed it."""
    for _try in range(TRIES):
        incident, fate = _found_or_opened(subject, row, desk)
        held = Incident.objects.select_for_update().get(pk=incident.pk)
        if held.is_open:
            return held, fate
    raise RuntimeError(f"{incident.reference} is closed each time it is looked for.")


def _found_or_opened(subject: lifecycle.Subject, row: Alert, desk: Desk) -> tuple[Incident, str]:
    family = faults.family_of(row.fault)
    past = queries.earlier_incident(subject.key, family)
    ended = past and (past.restored_at or past.closed_at)
    if past and ended and desk.at - ended <= lifecycle.REOPEN_WINDOW and not _known(subject, family):
        return lifecycle.reopen(past, by=desk.speaker, at=desk.at, text=row.summary), Fate.REOPENED
    incident, is_new = lifecycle.open_incident(
        subject,
        row.fault,
        by=desk.speaker,
        at=desk.at,
        started_at=row.starts_at,
        detected_at=row.first_seen_at,
        team=desk.source.team,
        text=row.summary,
        alert=row.name,
        locator=row.locator,
        severity_hint=row.severity_hint,
    )
    return incident, Fate.OPENED if is_new else Fate.JOINED


def _known(subject: lifecycle.Subject, family: str) -> bool:
    return queries.standing_incident(subject.key, family) is not None


def _set_part(
    incident: Incident, identity: fingerprint.Identity, row: Alert, *, is_new: bool, by: Actor, at: datetime
) -> None:
    locator = row.locator or incident.subject
    part, created = IncidentPart.objects.get_or_create(
        incident=incident,
        locator=locator,
        fault=row.fault,
        defaults={
            "kind": identity.kind,
            "fired_at": row.starts_at,
            "part": fleet.part_of(incident.node, identity.kind, locator, identity.uuid, identity.pci_address),
        },
    )
    if created:
        if not is_new:
            _tell(incident, "part_joined", row, locator, by=by, at=at)
        return
    if not part.firing:
        part.firing, part.fired_at, part.cleared_at = True, row.starts_at, None
        part.recurrences += 1
        part.save()
        _tell(incident, "part_refired", row, locator, by=by, at=at)


def _tell(incident: Incident, kind: str, row: Alert, locator: str, *, by: Actor, at: datetime) -> None:
    journal.note(incident, kind, by=by, at=at, text=row.summary, locator=locator, fault=row.fault, alert=row.name)
    Incident.objects.filter(pk=incident.pk).update(version=F("version") + 1)


def _clear(alert: NormalAlert, desk: Desk, episodes: QuerySet[Alert], starts_at: datetime) -> str:
    """End the episode that fires; a clear that is older than it is history."""
    firing = episodes.filter(cleared_at=None, starts_at__lte=starts_at).order_by("-starts_at").first()
    ends_at = min(alert.ends_at or desk.at, desk.at)
    if firing is None:
        if episodes.filter(starts_at__gte=starts_at).exists():
            return Fate.KNOWN
        # Nobody saw it fire. Kept, so that a firing of the same episode that comes late opens nothing.
        row = _row(alert, fingerprint.identify(alert.labels, desk.matchers), desk, starts_at)
        row.fate, row.cleared_at, row.fate_reason = Fate.CLEARED, ends_at, "It was never seen firing."
        row.save()
        return Fate.CLEARED
    firing.cleared_at, firing.last_seen_at = max(ends_at, firing.starts_at), desk.at
    firing.save(update_fields=["cleared_at", "last_seen_at"])
    if firing.incident_id:
        _clear_part(firing, firing.incident_id, by=desk.speaker, at=desk.at)
    return Fate.CLEARED


def _clear_part(row: Alert, incident_id: int, *, by: Actor, at: datetime) -> None:
    """The part is cleared when no alert about it fires any more. A clear is not a repair: the incident stays open."""
    incident = Incident.objects.select_related("node", "job", "rack").get(pk=incident_id)
    others = incident.alerts.filter(cleared_at=None, locator=row.locator, fault=row.fault)
    locator = row.locator or incident.subject
    if others.exists():
        return
    if not incident.parts.filter(locator=locator, fault=row.fault, firing=True).update(
        firing=False, cleared_at=row.cleared_at
    ):
        return
    firing = incident.parts.filter(firing=True).count()
    journal.note(
        incident,
        "part_cleared",
        by=by,
        at=at,
        locator=locator,
        fault=row.fault,
        firing=firing,
        total=incident.parts.count(),
    )
    Incident.objects.filter(pk=incident.pk).update(version=F("version") + 1)
