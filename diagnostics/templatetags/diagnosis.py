"""Panels of diagnostics on the pages of the apps below."""

from typing import Any

from django import template
from django.template.context import Context
from django.utils.translation import get_language

from diagnostics import queries
from diagnostics.engine.document import told_in
from diagnostics.models import DiagnosticRun
from diagnostics.views.progress import View, view_of
from incidents.actions.rights import may
from incidents.models import Incident, Node

register = template.Library()

RUNS_SHOWN = 8
EVIDENCE_SHOWN = 20
SURE = {"high": 3, "medium": 2, "low": 1}


def _views(incident: Incident) -> list[View]:
    """The newest runs of the incident; read once for all panels of a page."""
    kept: list[View] | None = getattr(incident, "shown_runs", None)
    if kept is None:
        kept = [view_of(run) for run in queries.runs_of(incident)[:RUNS_SHOWN]]
        incident.shown_runs = kept  # type: ignore[attr-defined]
    return kept


def _common(context: Context, **more: Any) -> dict[str, Any]:
    """What every panel needs from the page around it."""
    names = ("user", "is_live", "csrf_token", "refused_verb", "typed", "refusal", "now")
    return {name: context[name] for name in names if name in context} | more


@register.filter
def told(text: str) -> str:
    """What the engine says of a finding, in the language of the page."""
    return told_in(text, get_language() or "en")


@register.simple_tag
def is_busy(incident: Incident) -> bool:
    """True while a run of the incident is unfinished."""
    return any(view.progress.is_live for view in _views(incident))


@register.inclusion_tag("diagnostics/_run_panel.html", takes_context=True)
def run_panel(context: Context, incident: Incident) -> dict[str, Any]:
    """The runs that are under way, and the newest ones that are done."""
    views = _views(incident)
    live = [view for view in views if view.progress.is_live]
    done = [view for view in views if not view.progress.is_live]
    return _common(context, incident=incident, live=live, done=done[:4], last=done[0] if done and not live else None)


@register.inclusion_tag("diagnostics/_findings_panel.html", takes_context=True)
def findings_panel(context: Context, incident: Incident) -> dict[str, Any]:
    """The roots with their very lines, what follows from them, and what could not be checked."""
    found = queries.latest_findings(incident)
    views = [view for view in _views(incident) if not view.progress.is_live]
    probed = next((view for view in views if view.run.purpose != DiagnosticRun.Purpose.UPLOAD), None)
    return _common(
        context,
        incident=incident,
        roots=[finding for finding in found if finding.root],
        notes=[finding for finding in found if not finding.root],
        unchecked=probed.unchecked if probed else (),
        examined=bool(views),
        may_say=may(context["user"], "finding.confirm", incident),
    )


@register.inclusion_tag("diagnostics/_evidence_panel.html", takes_context=True)
def evidence_panel(context: Context, incident: Incident) -> dict[str, Any]:
    rows = list(queries.evidence_of(incident)[: EVIDENCE_SHOWN + 1])
    return _common(
        context,
        incident=incident,
        rows=rows[:EVIDENCE_SHOWN],
        is_cut=len(rows) > EVIDENCE_SHOWN,
        may_add=may(context["user"], "evidence.add", incident),
    )


@register.inclusion_tag("diagnostics/_running_panel.html", takes_context=True)
def running_panel(context: Context) -> dict[str, Any]:
    """Every run under way that the reader may see, for the console."""
    runs = queries.runs_for(context["user"]).filter(state__in=DiagnosticRun.UNFINISHED).order_by("-id")
    return _common(context, views=[view_of(run) for run in runs[:RUNS_SHOWN]])


@register.inclusion_tag("diagnostics/_node_runs_panel.html", takes_context=True)
def node_runs_panel(context: Context, node: Node) -> dict[str, Any]:
    runs = queries.runs_for(context["user"]).filter(node=node).order_by("-id")
    return _common(context, node=node, views=[view_of(run) for run in runs[:RUNS_SHOWN]])


@register.inclusion_tag("diagnostics/_finding.html", takes_context=True)
def finding_card(context: Context, finding: Any, may_say: bool = False) -> dict[str, Any]:
    """One finding: its line among its neighbours, its consequences folded, what people said of it."""
    verdicts = list(finding.verdicts.all())
    return _common(
        context,
        finding=finding,
        sure=SURE.get(finding.confidence, 0),
        verdict=verdicts[0] if verdicts else None,
        consequences=list(finding.consequences.all()),
        may_say=may_say,
    )
