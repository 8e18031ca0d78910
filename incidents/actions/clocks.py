"""The seven clocks of an incident, as far as people correct them."""

from datetime import datetime

from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.held import locked
from incidents.actions.rights import require
from incidents.lib.errors import Invalid, Refused
from incidents.models import CLOCKS, Incident, User

ORDER = (("declared_at", "acknowledged_at"), ("restored_at", "closed_at"))


def edit_clock(incident: Incident, *, clock: str, to: datetime, reason: str, by: User, at: datetime) -> None:
    """Correct one of the seven clocks; the old value, who and why stay in the audit log and on the timeline."""
    require(by, "incident.edit_clock", incident)
    if clock not in CLOCKS:
        raise Invalid(_("There is no clock '%(clock)s'.") % {"clock": clock})
    if not reason.strip():
        raise Invalid(_("Say why the time changes."))
    if to > at:
        raise Invalid(_("That time is in the future."))
    with locked(incident) as row:
        before = getattr(row, clock)
        if before is None:
            raise Refused(_("That has not happened yet, so its time cannot be corrected."))
        if clock != "impact_started_at" and to < row.impact_started_at:
            raise Invalid(_("Nothing comes before the start of the impact; move that first."))
        setattr(row, clock, to)
        for early, late in ORDER:
            if getattr(row, early) and getattr(row, late) and getattr(row, late) < getattr(row, early):
                raise Invalid(_("An incident is declared before it is acknowledged, and restored before it is closed."))
        if clock == "impact_started_at":
            others = [getattr(row, name) for name in CLOCKS if name != clock and getattr(row, name)]
            if to > min(others):
                raise Invalid(_("The impact started before everything else; choose an earlier time."))
        change = {"clock": clock, "before": before.isoformat(), "after": to.isoformat()}
        journal.audit(row, "incident.edit_clock", by=by, at=at, before=change["before"], after=change["after"])
        journal.note(row, "clock", by=by, at=at, text=reason, **change)
