"""Incidents as lists show them, at a constant number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Prefetch, QuerySet

from incidents.domain import sla
from incidents.domain.workflow import State
from incidents.models import Incident, IncidentPart, Waiting
from incidents.views.incident import times_of

LOCATORS_SHOWN = 2


@dataclass(frozen=True)
class Row:
    """One line: the incident, its affected parts in brief, how long it runs, the clock that ends next, what it waits for."""

    incident: Incident
    parts: str
    parts_more: int
    age: timedelta
    clock: sla.Clock | None
    waiting: Waiting | None


def rows_of(incidents: QuerySet[Incident], *, at: datetime) -> list[Row]:
    """The rows of a bounded queryset; parts and waits are read for all of them at once."""
    full = incidents.prefetch_related(
        Prefetch("parts", queryset=IncidentPart.objects.order_by("-firing", "locator"), to_attr="shown_parts"),
        Prefetch("waits", queryset=Waiting.objects.filter(until=None), to_attr="shown_waits"),
    )
    return [_row(incident, at=at) for incident in full]


def _row(incident: Incident, *, at: datetime) -> Row:
    names = _locators(incident, incident.shown_parts)  # type: ignore[attr-defined]
    waits = incident.shown_waits  # type: ignore[attr-defined]
    end = incident.closed_at or incident.restored_at or (incident.state_at if incident.state == State.MERGED else at)
    return Row(
        incident,
        ", ".join(names[:LOCATORS_SHOWN]),
        max(len(names) - LOCATORS_SHOWN, 0),
        max(end - incident.impact_started_at, timedelta()),
        sla.next_clock(times_of(incident), at=at) if incident.is_open else None,
        waits[0] if waits else None,
    )


def _locators(incident: Incident, parts: Iterable[IncidentPart]) -> list[str]:
    """Each part once; the node as a whole is the subject already."""
    return list(dict.fromkeys(part.locator for part in parts if part.locator != incident.subject))
