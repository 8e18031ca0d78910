"""Joins what was found to what is known: a finding gets the revision that is published for its fault now."""

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from diagnostics.models import Finding
from incidents.actions import journal
from incidents.domain import faults
from incidents.domain.actors import SICKBAY
from incidents.models import Incident
from knowledge import queries
from knowledge.models import FindingLink, SopRevision


def suggest_for_run(run_id: int, *, at: datetime) -> int:
    """Pin, for each root finding of an incident, the published SOP of its fault in each of its languages; how many links are new."""
    roots = Finding.objects.filter(run=run_id, root=True, incident__isnull=False, parent=None)
    return sum(_link(finding, at=at) for finding in roots.select_related("incident", "run").order_by("id"))


def _link(finding: Finding, *, at: datetime) -> int:
    published = queries.published_for_fault(finding.fault)
    if not published:
        return 0
    reason = _("%(title)s, found by run %(run)s") % {"title": faults.get(finding.fault).title, "run": finding.run_id}
    incident = finding.incident
    if incident is None:
        return 0
    with transaction.atomic():
        known = FindingLink.objects.filter(incident=incident, revision__in=published).exists()
        new = sum(_pin(finding, incident, revision, reason[:300], at=at) for revision in published)
        if new and not known:
            # Live pages poll by the version.
            Incident.objects.filter(pk=incident.pk).update(version=F("version") + 1)
            source = published[0]
            journal.note(
                incident,
                "sop_suggested",
                by=SICKBAY,
                at=at,
                sop=source.sop.slug,
                title=source.title,
                revision=source.number,
                sha256=source.content_sha256,
                fault=finding.fault,
            )
    return new


def _pin(finding: Finding, incident: Incident, revision: SopRevision, reason: str, *, at: datetime) -> bool:
    values = {"incident": incident, "content_sha256": revision.content_sha256, "reason": reason, "at": at}
    return FindingLink.objects.get_or_create(finding=finding, revision=revision, defaults=values)[1]
