"""Which revision there is, which one counts."""

from collections.abc import Sequence

from django.db.models import Max, Q, QuerySet

from incidents.domain import faults
from incidents.models import Incident, User
from knowledge.models import (
    ChecklistRun,
    FaultLink,
    FindingLink,
    Publication,
    PublishEvent,
    Sop,
    SopRevision,
    StepResult,
)


def sops_for(user: User) -> QuerySet[Sop]:
    """The SOPs that the user may read: all, for anybody who has a role anywhere."""
    return Sop.objects.all() if user.grants() else Sop.objects.none()


def newest_revision(sop: Sop, language: str) -> SopRevision | None:
    return sop.revisions.filter(language=language).order_by("-number").first()


def is_published(revision: SopRevision) -> bool:
    return Publication.objects.filter(revision=revision).exists()


def is_withdrawn(revision: SopRevision) -> bool:
    newest = PublishEvent.objects.filter(revision=revision).order_by("-id").first()
    return newest is not None and newest.action == PublishEvent.Action.WITHDRAW


def is_pinned(revision: SopRevision, incident: Incident) -> bool:
    return FindingLink.objects.filter(revision=revision).filter(of_incident(incident)).exists()


def published_for_fault(fault: str) -> list[SopRevision]:
    """The published revisions, source language first, of the SOP that comes first for a fault; empty if there is none."""
    links = FaultLink.objects.filter(fault=fault, sop__publications__isnull=False)
    best = links.select_related("sop").order_by("priority", "sop__slug").first()
    if best is None:
        return []
    rows = best.sop.publications.select_related("revision__sop")
    return sorted(
        (row.revision for row in rows), key=lambda one: (one.language != best.sop.source_language, one.language)
    )


def sop_of_fault(code: str, language: str) -> SopRevision | None:
    """The published revision for a fault in this language, else in its source language. Raises UnknownFault."""
    return in_language(published_for_fault(faults.get(code).code), language)


def published(slug: str, language: str) -> SopRevision | None:
    """The published revision of a SOP in this language, else in its source language."""
    rows = Publication.objects.filter(sop__slug=slug).select_related("revision__sop", "sop")
    return in_language(
        [row.revision for row in sorted(rows, key=lambda row: row.language != row.sop.source_language)], language
    )


def open_checklist(incident: Incident, sop: Sop) -> ChecklistRun:
    return ChecklistRun.objects.get(incident=incident, sop=sop, state=ChecklistRun.State.OPEN)


def latest_result(run: ChecklistRun, step_key: str) -> StepResult | None:
    return run.results.filter(step_key=step_key).order_by("-id").first()


def newer_revision(run: ChecklistRun) -> SopRevision | None:
    """The published revision of the same language, if it is newer than the one that the checklist is pinned to."""
    newer = Publication.objects.filter(sop=run.sop_id, language=run.language, revision__number__gt=run.revision.number)
    found = newer.select_related("revision__sop").first()
    return found.revision if found else None


def live_version() -> int:
    """Grows when a revision is published or withdrawn; the rest of what a checklist shows counts in `incident.version`."""
    return PublishEvent.objects.aggregate(newest=Max("id"))["newest"] or 0


def of_incident(incident: Incident) -> Q:
    """Links of the incident, and of those merged into it."""
    return Q(incident=incident) | Q(incident__merged_into=incident)


def in_language(revisions: Sequence[SopRevision], language: str) -> SopRevision | None:
    """The one in this language, else the first."""
    return next((one for one in revisions if one.language == language), revisions[0] if revisions else None)
