"""What people say of findings."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from diagnostics.actions.runs import note as tell
from diagnostics.models import Finding, FindingVerdict
from incidents.actions import causes
from incidents.actions.rights import require
from incidents.lib.errors import Invalid
from incidents.models import Incident, User


def confirm(finding: Finding, *, by: User, at: datetime, note: str = "") -> FindingVerdict:
    """This is it: the fault becomes the cause of the incident."""
    verdict = _say(finding, confirmed=True, by=by, at=at, note=note)
    incident = _incident(finding)
    if incident:
        causes.set_cause(incident, fault_code=finding.fault, note=note or finding.line[:500], by=by, at=at)
    return verdict


def reject(finding: Finding, *, by: User, at: datetime, note: str = "") -> FindingVerdict:
    """This is not it; the note says why."""
    if not note.strip():
        raise Invalid(_("Say why the finding is rejected."))
    return _say(finding, confirmed=False, by=by, at=at, note=note)


def _say(finding: Finding, *, confirmed: bool, by: User, at: datetime, note: str) -> FindingVerdict:
    incident = _incident(finding)
    require(by, "finding.confirm", incident or finding.node)
    latest = finding.verdicts.order_by("-at", "-id").first()
    if latest and latest.confirmed == confirmed and latest.note == note:
        return latest
    with transaction.atomic():
        verdict = finding.verdicts.create(confirmed=confirmed, by=by, at=at, note=note)
        if incident:
            kind = "finding_confirmed" if confirmed else "finding_rejected"
            tell(
                incident,
                kind,
                by=by,
                at=at,
                text=note,
                finding=finding.pk,
                fault=finding.fault,
                component=finding.component,
            )
    return verdict


def _incident(finding: Finding) -> Incident | None:
    """The incident that stands for the finding's now: a merged one has gone into another."""
    incident = finding.incident
    while incident and incident.merged_into:
        incident = incident.merged_into
    return incident
