"""Writes of history: the timeline of an incident, the audit log."""

from datetime import datetime
from typing import Any

from incidents.actions.rights import Actor, name_of, person, voice_of
from incidents.models import AuditEntry, Incident, TimelineEntry


def note(incident: Incident, kind: str, *, by: Actor, at: datetime, text: str = "", **data: Any) -> TimelineEntry:
    """Add a timeline entry; inside the transaction of what it tells."""
    return TimelineEntry.objects.create(
        incident=incident,
        at=at,
        kind=kind,
        voice=voice_of(by),
        actor=person(by),
        actor_name=name_of(by)[:120],
        data=data,
        text=text,
    )


def audit(thing: Any, verb: str, *, by: Actor, at: datetime, before: Any = None, after: Any = None) -> AuditEntry:
    """Add an audit entry; inside the transaction of the change."""
    return AuditEntry.objects.create(
        at=at,
        actor=person(by),
        actor_name=name_of(by)[:120],
        verb=verb,
        object_kind=thing._meta.model_name,
        object_id=str(thing.pk),
        object_name=str(thing)[:200],
        before=before,
        after=after,
    )
