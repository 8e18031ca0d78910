"""What every verb of an incident does: hold the row, move by the table, tell the timeline and the event."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from incidents import events
from incidents.actions import journal
from incidents.actions.rights import Actor
from incidents.domain import workflow
from incidents.domain.workflow import IllegalMove, Move, State
from incidents.lib.errors import Refused
from incidents.models import STATES, Incident


@contextmanager
def locked(incident: Incident) -> Iterator[Incident]:
    """The incident as it is now, held until the end of the transaction; the caller's copy is brought up to date."""
    with transaction.atomic():
        row = Incident.objects.select_for_update().get(pk=incident.pk)
        yield row
        row.version += 1
        row.save()
    incident.refresh_from_db()


def move(row: Incident, step: Move, *, by: Actor, at: datetime, text: str = "", **data: Any) -> None:
    """Change the state as the table says, with the timeline entry and the event."""
    try:
        target = workflow.after(row.state, step)
    except IllegalMove as error:
        raise Refused(_refusal(error)) from error
    row.state, row.state_at = target, at
    journal.note(row, step, by=by, at=at, text=text, **data)
    kind = {State.CLOSED: "incident_closed", State.MERGED: "incident_merged"}.get(target, "incident_changed")
    if step == Move.REOPEN:
        kind = "incident_reopened"
    events.announce(kind, at=at, incident=row.pk, move=step, state=target, into=row.merged_into_id)


def _refusal(error: IllegalMove) -> str:
    words = {"state": dict(STATES)[error.state]}
    return _("That is not possible while the incident is '%(state)s'. Reload the page to see what is.") % words
