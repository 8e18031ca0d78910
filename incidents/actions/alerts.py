"""From a kept body to incidents: take the waiting deliveries, understand them, attach each alert to its incident."""

import logging
from collections import Counter
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from incidents import queries
from incidents.actions import fleet, journal, lifecycle, tiers
from incidents.actions.rights import Actor, require
from incidents.domain import faults, fingerprint, severity
from incidents.domain.actors import Machine
from incidents.lib import doorbell
from incidents.lib.errors import Invalid, Refused
from incidents.models import Alert, Delivery, Incident, IncidentPart, Source
from incidents.payloads import PARSERS, NormalAlert, NotUnderstood, Payload

log = logging.getLogger(__name__)

BATCH = 50
LEASE = timedelta(minutes=2)
MAX_ATTEMPTS = 5
Fate = Alert.Fate


def process_waiting(*, at: datetime) -> int:
    """Take the waiting deliveries, oldest first; return how many were taken. One that fails waits, then is parked; others go on."""
    due = Delivery.objects.filter(state=Delivery.State.WAITING, due_at__lte=at).filter(
        Q(lease_until=None) | Q(lease_until__lt=at)
    )
    ids = list(due.order_by("id").values_list("id", flat=True)[:BATCH])
    return sum(_take(pk, at=at) for pk in ids)


def _take(pk: int, *, at: datetime) -> bool:
    claimed = (
        Delivery.objects.filter(pk=pk, state=Delivery.State.WAITING)
        .filter(Q(lease_until=None) | Q(lease_until__lt=at))
        .update(lease_until=at + LEASE, attempts=F("attempts") + 1)
    )
    if not claimed:
        return False
    delivery = Delivery.objects.select_related("source__team", "source__cluster").get(pk=pk)
    try:
        _process(delivery, at=at)
    except Exception as error:
        log.exception("delivery %s could not be processed", pk)
        parked = delivery.attempts >= MAX_ATTEMPTS
        Delivery.objects.filter(pk=pk).update(
            lease_until=None,
            due_at=at + timedelta(seconds=2**delivery.attempts),
            state=Delivery.State.PARKED if parked else Delivery.State.WAITING,
            parked_at=at if parked else None,
            last_error=f"{type(error).__name__}: {error}"[:2000],
        )
    return True


def _process(delivery: Delivery, *, at: datetime) -> None:
    try:
        payload = understand(delivery)
    except NotUnderstood as error:
        _finish(delivery, Delivery.State.NOT_UNDERSTOOD, at=at, error=str(error))
        return
    with transaction.atomic():
        fates = Counter(_apply(alert, delivery, at=at) for alert in in_order(payload))
        state = Delivery.State.NOT_UNDERSTOOD if payload.problems else Delivery.State.PROCESSED
        summary = {
            "fates": dict(fates),
            "truncated": payload.truncated,
            "alerts": sum(not one.is_heartbeat for one in payload.alerts),
        }
        _finish(delivery, state, at=at, error="\n".join(payload.problems), summary=summary)


def understand(delivery: Delivery) -> Payload:
    """The alerts of the body; raises `NotUnderstood` with the reason."""
    if delivery.is_cut:
        raise NotUnderstood(f"The body was longer than the limit; its first {delivery.size} bytes are kept.")
    parser = PARSERS.get(delivery.source.kind)
    if parser is None:
        raise NotUnderstood(f"No parser is called {delivery.source.kind!r}. Known: {', '.join(PARSERS)}.")
    return parser(bytes(delivery.body))


def in_order(payload: Payload) -> list[NormalAlert]:
    """The members in an order that does not depend on that of the body: by alert, then by time, firing before cleared."""
    return sorted(
        payload.alerts,
        key=lambda one: (one.fingerprint, one.starts_at.timestamp() if one.starts_at else 0, not one.firing),
    )


def _finish(delivery: Delivery, state: str, *, at: datetime, error: str = "", summary: dict | None = None) -> None:
    delivery.state, delivery.done_at, delivery.lease_until = state, at, None
    delivery.last_error, delivery.summary = error[:2000], summary or {}
    delivery.save(update_fields=["state", "done_at", "lease_until", "last_error", "summary"])


def _apply(alert: NormalAlert, delivery: Delivery, *, at: datetime) -> str:
    """Bring one alert into the books; its fate."""
    source = delivery.source
    if alert.is_heartbeat:
        Source.objects.filter(pk=source.pk).update(last_heartbeat_at=at)
    episodes = Alert.objects.filter(source=source, fingerprint=alert.fingerprint)
    starts_at = alert.starts_at or delivery.received_at
    if alert.firing:
        return _fire(alert, delivery, episodes.order_by("-starts_at").first(), starts_at=starts_at, at=at)
    return _clear(alert, delivery, episodes, starts_at=starts_at, at=at)


def _fire(alert: NormalAlert, delivery: Delivery, last: Alert | None, *, starts_at: datetime, at: datetime) -> str:
    if last and (last.cleared_at is None or last.starts_at >= starts_at):
        # Still the same episode (a later start without a clear between is a refresh), or an old one that comes late.
        Alert.objects.filter(pk=last.pk).update(last_seen_at=at, seen_count=F("seen_count") + 1)
        return Fate.KNOWN
    row = _row(alert, delivery, starts_at=starts_at, at=at)
    row.fate = Fate.HEARTBEAT if alert.is_heartbeat else _attach(row, alert, delivery.source, at=at)
    row.save()
    return row.fate


def _row(alert: NormalAlert, delivery: Delivery, *, starts_at: datetime, at: datetime) -> Alert:
    identity = fingerprint.identify(alert.labels, _matchers())
    return Alert(
        source=delivery.source,
        fingerprint=alert.fingerprint,
        starts_at=starts_at,
        first_seen_at=at,
        last_seen_at=at,
        name=alert.name,
        summary=alert.summary,
        labels=dict(alert.labels),
        annotations=dict(alert.annotations),
        severity_hint=alert.severity_hint,
        fault=identity.fault,
        xid=identity.xid,
        locator=identity.locator,
        delivery=delivery,
    )


def _matchers() -> list[fingerprint.Matcher]:
    return [fingerprint.Matcher(row.pattern, row.fault, row.label) for row in queries.fault_matchers()]


def _attach(row: Alert, alert: NormalAlert, source: Source, *, at: datetime) -> str:
    """Find or open the incident of this alert, and set the part that fires."""
    identity = fingerprint.identify(alert.labels, _matchers())
    subject = _subject(identity, source, at=at)
    if subject is None:
        row.fate_reason = "The labels name no node and no job that could be found."
        return Fate.UNASSIGNED
    row.node, row.job = subject.node, subject.job
    speaker = Machine(source.name, "source")
    incident, fate = _incident_for(subject, row, source, by=speaker, at=at)
    row.incident = incident
    if fate != Fate.OPENED:
        _rise(incident, row.fault, by=speaker, at=at)
    _set_part(incident, identity, row, is_new=fate == Fate.OPENED, by=speaker, at=at)
    if row.severity_hint.lower() not in fingerprint.KNOWN_SEVERITIES and not incident.needs_mapping:
        Incident.objects.filter(pk=incident.pk).update(needs_mapping=True)
    return fate


def _subject(identity: fingerprint.Identity, source: Source, *, at: datetime) -> lifecycle.Subject | None:
    try:
        if identity.is_job or (identity.job and not identity.node):
            return lifecycle.Subject(job=fleet.job_called(identity.job, cluster=source.cluster, at=at))
        if identity.node:
            return lifecycle.Subject(node=fleet.node_named(identity.node, at=at))
    except Invalid:
        return None
    return None


def _incident_for(
    subject: lifecycle.Subject, row: Alert, source: Source, *, by: Actor, at: datetime
) -> tuple[Incident, str]:
    family = faults.family_of(row.fault)
    past = queries.earlier_incident(subject.key, family)
    ended = past and (past.closed_at or past.restored_at)
    if past and ended and at - ended <= lifecycle.REOPEN_WINDOW and not _open(subject, family):
        lifecycle.reopen(past, by=by, at=at, text=row.summary)
        return past, Fate.REOPENED
    incident, is_new = lifecycle.open_incident(
        subject,
        row.fault,
        by=by,
        at=at,
        started_at=row.starts_at,
        detected_at=row.first_seen_at,
        team=source.team,
        text=row.summary,
        alert=row.name,
        locator=row.locator,
        severity_hint=row.severity_hint,
    )
    return incident, Fate.OPENED if is_new else Fate.JOINED


def _open(subject: lifecycle.Subject, family: str) -> bool:
    return queries.open_incidents().filter(subject_key=subject.key, family=family).exists()


def _rise(incident: Incident, fault_code: str, *, by: Actor, at: datetime) -> None:
    """A graver fault of the same family lifts the tier."""
    tier = severity.graver(incident.severity, faults.get(fault_code).severity)
    if tier == incident.severity or incident.severity_rule == tiers.BY_PERSON:
        return
    tiers.retier(incident, tier, rule=f"fault {fault_code}", by=by, at=at)


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


def _clear(alert: NormalAlert, delivery: Delivery, episodes, *, starts_at: datetime, at: datetime) -> str:  # type: ignore[no-untyped-def]
    """End the episode that fires; a clear that is older than it is history."""
    firing = episodes.filter(cleared_at=None, starts_at__lte=starts_at).order_by("-starts_at").first()
    if firing is None:
        if episodes.filter(starts_at__gte=starts_at).exists():
            return Fate.KNOWN
        # Nobody saw it fire. Kept, so that a firing of the same episode that comes late opens nothing.
        row = _row(alert, delivery, starts_at=starts_at, at=at)
        row.fate, row.cleared_at, row.fate_reason = Fate.CLEARED, alert.ends_at or at, "It was never seen firing."
        row.save()
        return Fate.CLEARED
    firing.cleared_at, firing.last_seen_at = max(alert.ends_at or at, firing.starts_at), at
    firing.save(update_fields=["cleared_at", "last_seen_at"])
    if firing.incident_id:
        _clear_part(firing, firing.incident_id, by=Machine(delivery.source.name, "source"), at=at)
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


def replay(delivery: Delivery, *, by: Actor, at: datetime) -> None:
    """Have a kept body processed again, for example after a mapping was mended. What is in the books already stays as it is."""
    require(by, "delivery.replay", delivery.source)
    with transaction.atomic():
        row = Delivery.objects.select_for_update().get(pk=delivery.pk)
        if row.is_cut:
            raise Refused(
                _("The body was longer than the limit and only its beginning is kept; it cannot be replayed.")
            )
        row.state, row.due_at, row.attempts, row.parked_at, row.done_at = Delivery.State.WAITING, at, 0, None, None
        row.save(update_fields=["state", "due_at", "attempts", "parked_at", "done_at"])
        journal.audit(row, "delivery.replay", by=by, at=at)
        transaction.on_commit(doorbell.ring)
