"""Steps as pages show them, and the way of a checklist through them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from knowledge.domain import render
from knowledge.domain.route import Result, Route, Waypoint, walk
from knowledge.domain.steps import branches, fill, labels
from knowledge.models import ChecklistRun, Step, StepResult


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


def safe_html(text: str) -> SafeString:
    return mark_safe(render.html(text))  # noqa: S308  # it went through the allow-list of `render`


def step_view(step: Step, values: Mapping[str, str]) -> StepView:
    spec = step.spec
    return StepView(
        key=step.key,
        number=step.position,
        title=step.title,
        type=step.type,
        html=safe_html(fill(step.prose, values)),
        ask=spec.get("ask", ""),
        answers=labels(spec),
        branches=branches(spec),
        probe=spec.get("probe", ""),
        action=spec.get("action", ""),
        sha256=step.sha256,
    )


def route_of(run: ChecklistRun) -> Route:
    """The way of a checklist as the rows are now."""
    steps = Step.objects.filter(revision=run.revision_id).order_by("position")
    return route_through(steps, latest_of(run.results.order_by("id")))


def next_step(run: ChecklistRun) -> Step | None:
    """The step to do now, None once the checklist has ended; no query where results and steps are prefetched."""
    if run.state != ChecklistRun.State.OPEN:
        return None
    steps = sorted(run.revision.steps.all(), key=lambda step: step.position)
    current = route_through(steps, latest_of(sorted(run.results.all(), key=lambda result: result.pk))).current
    return next((step for step in steps if step.key == current), None)


def latest_of(results: Iterable[StepResult]) -> dict[str, StepResult]:
    """The newest result per step; `results` come oldest first."""
    return {result.step_key: result for result in results}


def route_through(steps: Iterable[Step], latest: Mapping[str, StepResult]) -> Route:
    waypoints = [Waypoint(step.key, step.type, branches(step.spec)) for step in steps]
    return walk(waypoints, {key: Result(row.pk, row.state, row.outcome) for key, row in latest.items()})
