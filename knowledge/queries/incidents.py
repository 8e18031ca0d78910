"""What an incident gets: SOPs that are suggested, checklists that are worked through."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from incidents.domain import faults
from incidents.models import Incident
from knowledge.domain.route import Route, StepState
from knowledge.domain.steps import labels
from knowledge.models import ChecklistRun, FindingLink, PublishEvent, SopRevision, Step, StepResult
from knowledge.queries.revisions import in_language, of_incident, published_for_fault
from knowledge.queries.steps import StepView, latest_of, route_through, step_view

PCI_ADDRESS = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?")


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
        revision = in_language(revisions, language)
        if revision and revision.sop_id not in found:
            found[revision.sop_id] = Suggestion(revision, link.finding.fault, _reason(link, language), link.finding_id)
    fault = faults.get(incident.cause or incident.fault)
    by_fault = in_language(published_for_fault(fault.code), language)
    if by_fault and by_fault.sop_id not in found:
        found[by_fault.sop_id] = Suggestion(by_fault, fault.code, fault.title_in(language), None)
    return tuple(found.values())


def _reason(link: FindingLink, language: str) -> str:
    """Why the SOP is suggested, in the language asked for; as it was written if the fault is not known any more."""
    try:
        title = faults.get(link.finding.fault).title_in(language)
    except faults.UnknownFault:
        return link.reason
    return _("%(title)s, found by run %(run)s") % {"title": title, "run": link.finding.run_id}


def suggested_revision(incident: Incident) -> SopRevision | None:
    """The first suggestion, in its source language."""
    first = next(iter(suggested(incident, "")), None)
    return first.revision if first else None


def _links(incident: Incident) -> list[tuple[FindingLink, list[SopRevision]]]:
    """The links of each finding that nobody rejected, with the revision in each language, source language first."""
    rows = FindingLink.objects.filter(of_incident(incident)).select_related("finding", "revision__sop")
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
    values = values_of(incident) if runs else {}
    runs.sort(key=lambda run: (run.state != ChecklistRun.State.OPEN, -run.pk))
    return tuple(_checklist(run, values) for run in runs)


def _checklist(run: ChecklistRun, values: Mapping[str, str]) -> Checklist:
    steps = sorted(run.revision.steps.all(), key=lambda step: step.position)
    latest = latest_of(sorted(run.results.all(), key=lambda result: result.pk))
    route = route_through(steps, latest)
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
        step=step_view(step, values),
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


def values_of(incident: Incident) -> dict[str, str]:
    """What `{{ name }}` stands for in the steps; see docs of the SOP format."""
    links = (
        FindingLink.objects.filter(of_incident(incident)).select_related("finding").order_by("-finding__run", "finding")
    )
    components = [link.finding.component for link in links]
    return {
        "incident.ref": incident.reference,
        "node.name": incident.node.hostname if incident.node else "",
        "node.bmc": incident.node.bmc_address if incident.node else "",
        "finding.component": components[0] if components else "",
        "gpu.pci": next((one for one in components if PCI_ADDRESS.fullmatch(one)), ""),
    }
