"""What it was: the cause re-keys an incident, and incidents that are one are merged."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from incidents import events, queries
from incidents.actions import journal, tiers
from incidents.actions.held import locked, move
from incidents.actions.rights import Actor, require
from incidents.domain import faults
from incidents.domain.workflow import Move, State
from incidents.extension_points import merge_followers
from incidents.lib.errors import Invalid, Refused
from incidents.models import Incident


@contextmanager
def held_with_others(incident: Incident) -> Iterator[Incident]:
    """As `locked`, and with it all of its subject, in one order: two causes set crosswise must not wait for each other."""
    with transaction.atomic():
        list(Incident.objects.select_for_update().filter(subject_key=incident.subject_key).order_by("pk"))
        with locked(incident) as row:
            yield row


def set_cause(incident: Incident, *, fault_code: str, note: str = "", by: Actor, at: datetime) -> None:
    """Confirm the cause. The incident gets its fault and family; if that meets another open one, the younger is merged."""
    require(by, "incident.reclassify", incident)
    fault = faults.get(fault_code)
    with held_with_others(incident) as row:
        if (row.cause, row.cause_note) == (fault.code, note):
            return
        row.cause, row.cause_note = fault.code, note
        journal.note(row, "cause", by=by, at=at, text=note, fault=fault.code)
        if row.fault != fault.code:
            _reclassify(row, fault, by=by, at=at)


def _reclassify(row: Incident, fault: faults.Fault, *, by: Actor, at: datetime) -> None:
    twin = queries.open_incidents().filter(subject_key=row.subject_key, family=fault.family).exclude(pk=row.pk).first()
    before = row.fault
    row.fault, row.title = fault.code, fault.title
    if twin and row.is_open:
        older, younger = sorted((row, twin), key=lambda one: (one.declared_at, one.pk))
        _join(younger, older, row, by=by, at=at, reason=_("the same cause, %(fault)s") % {"fault": fault.code})
    if row.state != State.MERGED:
        row.family = fault.family
        tiers.lift(row, fault, by=by, at=at)
    journal.note(row, "reclassified", by=by, at=at, before=before, fault=fault.code)
    events.announce("incident_reclassified", at=at, incident=row.pk, fault=fault.code)


def _join(younger: Incident, older: Incident, row: Incident, *, by: Actor, at: datetime, reason: str) -> None:
    """Merge two of which `row` is held by the caller; the caller saves it."""
    other = older if row is younger else younger
    other.version += 1
    if row is younger and not older.cause:
        older.cause, older.cause_note = row.cause, row.cause_note
    _absorb(younger, older, by=by, at=at, reason=reason)
    other.save()


def merge(incident: Incident, *, into: Incident, reason: str, by: Actor, at: datetime) -> None:
    """Fold one open incident into another; its parts and signals go along."""
    require(by, "incident.merge", incident)
    require(by, "incident.merge", into)
    if incident.pk == into.pk:
        raise Invalid(_("An incident cannot be merged into itself."))
    if not reason.strip():
        raise Invalid(_("Say why they are one."))
    with transaction.atomic():
        # In one order, so that two who merge crosswise do not wait for each other for ever.
        list(Incident.objects.select_for_update().filter(pk__in=(incident.pk, into.pk)).order_by("pk"))
        _merge(incident, into, reason=reason, by=by, at=at)


def _merge(incident: Incident, into: Incident, *, reason: str, by: Actor, at: datetime) -> None:
    with locked(into) as target, locked(incident) as row:
        if row.state == State.MERGED and row.merged_into_id == target.pk:
            return
        if not target.is_open:
            raise Refused(
                _("%(reference)s is not open; merge into an open incident.") % {"reference": target.reference}
            )
        _absorb(row, target, by=by, at=at, reason=reason)


def _absorb(row: Incident, target: Incident, *, by: Actor, at: datetime, reason: str) -> None:
    row.merged_into = target
    move(row, Move.MERGE, by=by, at=at, text=reason, into=target.reference)
    row.waits.filter(until=None).update(until=at)
    row.alerts.update(incident=target)
    row.merged.update(merged_into=target)  # what it had taken in before goes along
    _hand_over_parts(row, target)
    target.impact_started_at = min(target.impact_started_at, row.impact_started_at)
    journal.note(target, "absorbed", by=by, at=at, text=reason, other=row.reference)
    for follow in merge_followers.values():
        follow(row, target, at)


def _hand_over_parts(row: Incident, target: Incident) -> None:
    """A part that both have fires if it fires in either."""
    taken = {(part.locator, part.fault): part for part in target.parts.all()}
    for part in row.parts.all():
        other = taken.get((part.locator, part.fault))
        if other is None:
            part.pk, part.incident = None, target
            part.save(force_insert=True)
        elif part.firing and not other.firing:
            other.firing, other.fired_at, other.cleared_at = True, part.fired_at, None
            other.save()
