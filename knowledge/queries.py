"""What there is to read of SOPs and checklists: querysets, rows, and frozen facts for pages and the API."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q, QuerySet
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from incidents.domain import faults
from incidents.models import Incident, User
from knowledge.domain import render, sop_format
from knowledge.domain.route import Result, Route, StepState, Waypoint, walk
from knowledge.domain.steps import branches, fill, labels
from knowledge.models import (
    ChecklistRun,
    FaultLink,
    FindingLink,
    Publication,
    PublishEvent,
    Sop,
    SopRevision,
    Step,
    StepResult,
)

PCI_ADDRESS = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?")
SECTION_TITLES = {
    "Meaning": _("Meaning"),
    "Impact": _("Impact"),
    "Steps": _("Steps"),
    "Verification": _("Verification"),
    "Rollback": _("Rollback"),
    "Escalation": _("Escalation"),
    "Notes": _("Notes"),
}


# Rows


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
    return FindingLink.objects.filter(revision=revision).filter(_of(incident)).exists()


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
    return _in_language(published_for_fault(faults.get(code).code), language)


def published(slug: str, language: str) -> SopRevision | None:
    """The published revision of a SOP in this language, else in its source language."""
    rows = Publication.objects.filter(sop__slug=slug).select_related("revision__sop", "sop")
    return _in_language(
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


def route_of(run: ChecklistRun) -> Route:
    """The way of a checklist as the rows are now."""
    steps = Step.objects.filter(revision=run.revision_id).order_by("position")
    return _route(steps, _latest(run.results.order_by("id")))


def next_step(run: ChecklistRun) -> Step | None:
    """The step to do now, None once the checklist has ended; no query where results and steps are prefetched."""
    if run.state != ChecklistRun.State.OPEN:
        return None
    steps = sorted(run.revision.steps.all(), key=lambda step: step.position)
    current = _route(steps, _latest(sorted(run.results.all(), key=lambda result: result.pk))).current
    return next((step for step in steps if step.key == current), None)


def live_version() -> int:
    """Grows when a revision is published or withdrawn; the rest of what a checklist shows counts in `incident.version`."""
    return PublishEvent.objects.aggregate(newest=Max("id"))["newest"] or 0


def _of(incident: Incident) -> Q:
    """Links of the incident, and of those merged into it."""
    return Q(incident=incident) | Q(incident__merged_into=incident)


def _in_language(revisions: Sequence[SopRevision], language: str) -> SopRevision | None:
    """The one in this language, else the first."""
    return next((one for one in revisions if one.language == language), revisions[0] if revisions else None)


# The list of SOPs


@dataclass(frozen=True)
class ArticleRow:
    """A SOP in the list. `language` is that of the revision shown; `number` and `at` are None where nothing is published."""

    slug: str
    title: str
    status: str
    owner: str
    faults: tuple[str, ...]
    language: str
    number: int | None
    at: datetime | None
    author: str
    languages: tuple[str, ...]
    step_count: int
    checklist_count: int


def library(language: str, *, fault: str = "") -> tuple[ArticleRow, ...]:
    """Every SOP by title, in this language where it is published in it; in a constant number of queries."""
    sops = Sop.objects.exclude(status=Sop.Status.RETIRED).prefetch_related("fault_links")
    if fault:
        sops = sops.filter(fault_links__fault=fault)
    published: dict[int, list[SopRevision]] = {}
    for row in (
        Publication.objects.select_related("revision", "sop").defer("revision__body").order_by("sop", "language")
    ):
        published.setdefault(row.sop_id, []).append(row.revision)
    steps = _counts(Step.objects.filter(revision__publications__isnull=False).values_list("revision"))
    used = _counts(ChecklistRun.objects.values_list("sop"))
    rows = (_article_row(sop, published.get(sop.pk, []), language, steps, used) for sop in sops)
    return tuple(sorted(rows, key=lambda row: (row.title, row.slug)))


def _counts(rows: QuerySet) -> dict[int, int]:
    return dict(rows.annotate(n=Count("pk", distinct=True)).order_by())


def _article_row(
    sop: Sop, published: list[SopRevision], language: str, steps: Mapping[int, int], used: Mapping[int, int]
) -> ArticleRow:
    source_first = sorted(published, key=lambda one: one.language != sop.source_language)
    shown = _in_language(source_first, language)
    return ArticleRow(
        slug=sop.slug,
        title=shown.title if shown else sop.slug,
        status=sop.status,
        owner=sop.owner,
        faults=tuple(link.fault for link in sorted(sop.fault_links.all(), key=lambda link: link.priority)),
        language=shown.language if shown else sop.source_language,
        number=shown.number if shown else None,
        at=shown.created_at if shown else None,
        author=shown.author_name if shown else "",
        languages=tuple(one.language for one in source_first),
        step_count=steps.get(shown.pk, 0) if shown else 0,
        checklist_count=used.get(sop.pk, 0),
    )


@dataclass(frozen=True)
class Coverage:
    """A fault and the SOP that is published for it; `slug` is empty where there is none."""

    fault: faults.Fault
    slug: str


def coverage() -> tuple[Coverage, ...]:
    """Every fault of the table, in its order, in one query."""
    links = FaultLink.objects.filter(sop__publications__isnull=False).order_by("priority", "sop__slug")
    best: dict[str, str] = {}
    for fault, slug in links.values_list("fault", "sop__slug"):
        best.setdefault(fault, slug)
    return tuple(Coverage(fault, best.get(fault.code, "")) for fault in faults.all_faults())


# One SOP


@dataclass(frozen=True)
class StepView:
    """A step as a page shows it. `answers` of a decision: value -> label; `branches`: outcome or answer -> key of a step or an end."""

    key: str
    number: int
    title: str
    type: str
    html: SafeString
    ask: str
    answers: Mapping[str, str]
    branches: Mapping[str, str]
    probe: str
    action: str
    sha256: str


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
        steps=tuple(_step_view(step, {}) for step in revision.steps.order_by("position")),
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
    return ArticleSection(section.title, str(SECTION_TITLES[section.title]), _html(fill(section.prose, {})))


def _html(text: str) -> SafeString:
    return mark_safe(render.html(text))  # noqa: S308  # it went through the allow-list of `render`


def _step_view(step: Step, values: Mapping[str, str]) -> StepView:
    spec = step.spec
    return StepView(
        key=step.key,
        number=step.position,
        title=step.title,
        type=step.type,
        html=_html(fill(step.prose, values)),
        ask=spec.get("ask", ""),
        answers=labels(spec),
        branches=branches(spec),
        probe=spec.get("probe", ""),
        action=spec.get("action", ""),
        sha256=step.sha256,
    )


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


# In an incident


@dataclass(frozen=True)
class Suggestion:
    """A SOP for an incident, pinned to `revision`. `finding` is the id of the finding that it is for, None if the fault chose it."""

    revision: SopRevision
    fault: str
    reason: str
    finding: int | None

    @property
    def slug(self) -> str:
        return self.revision.sop.slug


def suggested(incident: Incident, language: str) -> tuple[Suggestion, ...]:
    """By finding, newest run first; then by the fault of the incident. One per SOP, in a constant number of queries."""
    found: dict[int, Suggestion] = {}
    for link, revisions in _links(incident):
        revision = _in_language(revisions, language)
        if revision and revision.sop_id not in found:
            found[revision.sop_id] = Suggestion(revision, link.finding.fault, link.reason, link.finding_id)
    fault = faults.get(incident.cause or incident.fault)
    by_fault = _in_language(published_for_fault(fault.code), language)
    if by_fault and by_fault.sop_id not in found:
        found[by_fault.sop_id] = Suggestion(by_fault, fault.code, fault.title_in(language), None)
    return tuple(found.values())


def suggested_revision(incident: Incident) -> SopRevision | None:
    """The first suggestion, in its source language."""
    first = next(iter(suggested(incident, "")), None)
    return first.revision if first else None


def _links(incident: Incident) -> list[tuple[FindingLink, list[SopRevision]]]:
    """The links of each finding that nobody rejected, with the revision in each language, source language first."""
    rows = FindingLink.objects.filter(_of(incident)).select_related("finding", "revision__sop")
    rows = rows.prefetch_related("finding__verdicts").order_by("-finding__run", "finding", "id")
    grouped: dict[int, tuple[FindingLink, list[SopRevision]]] = {}
    for link in rows:
        verdicts = list(link.finding.verdicts.all())
        if not verdicts or verdicts[-1].confirmed:
            grouped.setdefault(link.finding_id, (link, []))[1].append(link.revision)
    return list(grouped.values())


@dataclass(frozen=True)
class ChecklistStep:
    """A step with what became of it. `state` is todo, done, failed or skipped; `place` is current, ahead, gone or aside.

    `result` is the id of the newest tick, 0 for none: it goes back as `expected_latest`.
    """

    step: StepView
    state: str
    place: str
    outcome: str
    outcome_label: str  # an answer in the words of the SOP
    note: str
    by: str
    at: datetime | None
    result: int


@dataclass(frozen=True)
class Checklist:
    """A checklist of an incident. `done` of `total` counts the steps on the path and those that may still come."""

    run: ChecklistRun
    title: str
    slug: str
    steps: tuple[ChecklistStep, ...]
    current: str | None
    done: int
    total: int
    newer: int | None
    withdrawn: str


def checklists_of(incident: Incident) -> tuple[Checklist, ...]:
    """Those of the incident, open ones first, with steps and newest ticks; in a constant number of queries."""
    runs = list(
        incident.checklists.select_related("revision__sop", "started_by")
        .defer("revision__body")
        .prefetch_related("results", "revision__steps", "revision__publish_events", "sop__publications__revision")
    )
    values = _values(incident) if runs else {}
    runs.sort(key=lambda run: (run.state != ChecklistRun.State.OPEN, -run.pk))
    return tuple(_checklist(run, values) for run in runs)


def _checklist(run: ChecklistRun, values: Mapping[str, str]) -> Checklist:
    steps = sorted(run.revision.steps.all(), key=lambda step: step.position)
    latest = _latest(sorted(run.results.all(), key=lambda result: result.pk))
    route = _route(steps, latest)
    views = tuple(_checklist_step(step, latest.get(step.key), route, values) for step in steps)
    events = sorted(run.revision.publish_events.all(), key=lambda event: event.pk)
    newer = [
        row.revision.number
        for row in run.sop.publications.all()
        if row.language == run.language and row.revision.number > run.revision.number
    ]
    gone = [view for view in views if view.place == "gone"]
    return Checklist(
        run=run,
        title=run.revision.title,
        slug=run.revision.sop.slug,
        steps=views,
        current=route.current,
        done=len(gone),
        total=len(gone) + len([view for view in views if view.place in ("current", "ahead")]),
        newer=newer[0] if newer else None,
        withdrawn=events[-1].reason if events and events[-1].action == PublishEvent.Action.WITHDRAW else "",
    )


def _checklist_step(step: Step, result: StepResult | None, route: Route, values: Mapping[str, str]) -> ChecklistStep:
    ticked = result is not None and result.state != StepState.UNDONE
    outcome = result.outcome if result else ""
    return ChecklistStep(
        step=_step_view(step, values),
        state=result.state if result and ticked else "todo",
        place=_place(step.key, route),
        outcome=outcome,
        outcome_label=labels(step.spec).get(outcome, outcome),
        note=result.note if result else "",
        by=result.by_name if result else "",
        at=result.at if result else None,
        result=result.pk if result else 0,
    )


def _place(key: str, route: Route) -> str:
    if key == route.current:
        return "current"
    if key in route.ahead:
        return "ahead"
    return "gone" if key in route.path else "aside"


def _latest(results: Iterable[StepResult]) -> dict[str, StepResult]:
    """The newest result per step; `results` come oldest first."""
    return {result.step_key: result for result in results}


def _route(steps: Iterable[Step], latest: Mapping[str, StepResult]) -> Route:
    waypoints = [Waypoint(step.key, step.type, branches(step.spec)) for step in steps]
    return walk(waypoints, {key: Result(row.pk, row.state, row.outcome) for key, row in latest.items()})


def _values(incident: Incident) -> dict[str, str]:
    """What `{{ name }}` stands for in the steps; see docs of the SOP format."""
    links = FindingLink.objects.filter(_of(incident)).select_related("finding").order_by("-finding__run", "finding")
    components = [link.finding.component for link in links]
    return {
        "incident.ref": incident.reference,
        "node.name": incident.node.hostname if incident.node else "",
        "node.bmc": incident.node.bmc_address if incident.node else "",
        "finding.component": components[0] if components else "",
        "gpu.pci": next((one for one in components if PCI_ADDRESS.fullmatch(one)), ""),
    }
