"""One SOP, at one revision."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from knowledge.domain import sop_format
from knowledge.domain.steps import fill
from knowledge.models import PublishEvent, Sop, SopRevision
from knowledge.queries.revisions import newest_revision
from knowledge.queries.steps import StepView, safe_html, step_view

SECTION_TITLES = {
    "Meaning": _("Meaning"),
    "Impact": _("Impact"),
    "Steps": _("Steps"),
    "Verification": _("Verification"),
    "Rollback": _("Rollback"),
    "Escalation": _("Escalation"),
    "Notes": _("Notes"),
}


@dataclass(frozen=True)
class ArticleSection:
    title: str  # as in the file
    label: str  # in the language of the reader
    html: SafeString


@dataclass(frozen=True)
class RevisionRow:
    language: str
    number: int
    title: str
    author: str
    at: datetime
    change_note: str
    sha256: str
    is_published: bool


@dataclass(frozen=True)
class Article:
    """One revision of a SOP, and what to know about it.

    `newer`: the published number where this revision is an older one. `lags_behind`: the number of the source revision that
    a translation does not follow yet, with the keys of the steps that changed in `stale_steps`. `withdrawn`: why, if it was.
    """

    revision: SopRevision
    slug: str
    title: str
    status: str
    owner: str
    source_language: str
    faults: tuple[str, ...]
    sections: tuple[ArticleSection, ...]
    steps: tuple[StepView, ...]
    revisions: tuple[RevisionRow, ...]
    languages: tuple[str, ...]
    is_published: bool
    newer: int | None
    lags_behind: int | None
    stale_steps: tuple[str, ...]
    withdrawn: str


def article(slug: str, language: str, number: int | None = None) -> Article:
    """The published revision, else the newest; or the revision of this number. Raises Sop.DoesNotExist, SopRevision.DoesNotExist."""
    sop = Sop.objects.get(slug=slug)
    published = {row.language: row.revision for row in sop.publications.select_related("revision")}
    revision = _chosen(sop, published, language, number)
    document = sop_format.parse(revision.body)
    current = published.get(revision.language)
    source = published.get(sop.source_language)
    lags = source is not None and revision.language != sop.source_language and revision.based_on_id != source.pk
    return Article(
        revision=revision,
        slug=slug,
        title=revision.title,
        status=sop.status,
        owner=document.head.owner,
        source_language=sop.source_language,
        faults=document.head.faults,
        sections=tuple(_section(one) for one in document.sections),
        steps=tuple(step_view(step, {}) for step in revision.steps.order_by("position")),
        revisions=_revisions(sop, published),
        languages=tuple(sorted({language for language, _number in sop.revisions.values_list("language", "number")})),
        is_published=current == revision,
        newer=current.number if current and current.number > revision.number else None,
        lags_behind=source.number if lags and source else None,
        stale_steps=_changed_steps(revision.based_on, source) if lags and source else (),
        withdrawn=_withdrawal(revision),
    )


def _chosen(sop: Sop, published: Mapping[str, SopRevision], language: str, number: int | None) -> SopRevision:
    if number is not None:
        return SopRevision.objects.select_related("sop", "based_on").get(sop=sop, language=language, number=number)
    chosen = published.get(language) or published.get(sop.source_language) or newest_revision(sop, language)
    chosen = chosen or newest_revision(sop, sop.source_language)
    if chosen is None:
        raise SopRevision.DoesNotExist(f"{sop} has no revision.")
    return chosen


def _section(section: sop_format.Section) -> ArticleSection:
    return ArticleSection(section.title, str(SECTION_TITLES[section.title]), safe_html(fill(section.prose, {})))


def _revisions(sop: Sop, published: Mapping[str, SopRevision]) -> tuple[RevisionRow, ...]:
    current = {revision.pk for revision in published.values()}
    return tuple(
        RevisionRow(
            one.language,
            one.number,
            one.title,
            one.author_name,
            one.created_at,
            one.change_note,
            one.content_sha256,
            one.pk in current,
        )
        for one in sop.revisions.defer("body").order_by("-created_at", "-id")
    )


def _changed_steps(before: SopRevision | None, after: SopRevision) -> tuple[str, ...]:
    """Steps of the newer source that the translation does not know as they are now."""
    known = dict(before.steps.values_list("key", "sha256")) if before else {}
    return tuple(step.key for step in after.steps.order_by("position") if known.get(step.key) != step.sha256)


def _withdrawal(revision: SopRevision) -> str:
    newest = revision.publish_events.order_by("-id").first()
    return newest.reason if newest and newest.action == PublishEvent.Action.WITHDRAW else ""
