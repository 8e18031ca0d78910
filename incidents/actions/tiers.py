"""How grave an incident is, and who or what says so."""

from datetime import datetime

from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.held import locked
from incidents.actions.rights import Actor, require
from incidents.domain import severity
from incidents.lib.errors import Invalid
from incidents.models import Incident, User

BY_PERSON = "chosen by a person"


def set_severity(incident: Incident, *, tier: str, reason: str, by: User, at: datetime) -> None:
    require(by, "incident.reclassify", incident)
    if tier not in set(severity.Tier):
        raise Invalid(_("Choose one of SEV1, SEV2, SEV3, SEV4."))
    if not reason.strip():
        raise Invalid(_("Say why the severity changes."))
    with locked(incident) as row:
        change(row, severity.Tier(tier), rule=BY_PERSON, by=by, at=at, text=reason)


def retier(incident: Incident, tier: severity.Tier, *, rule: str, by: Actor, at: datetime) -> None:
    """Give another tier because a rule says so."""
    require(by, "incident.reclassify", incident)
    with locked(incident) as row:
        change(row, tier, rule=rule, by=by, at=at)


def change(row: Incident, tier: severity.Tier, *, rule: str, by: Actor, at: datetime, text: str = "") -> None:
    if row.severity == tier:
        return
    journal.note(row, "severity", by=by, at=at, text=text, before=row.severity, after=tier, rule=rule)
    row.severity, row.severity_rule = tier, rule
    row.peak_severity = severity.graver(row.peak_severity, tier)
