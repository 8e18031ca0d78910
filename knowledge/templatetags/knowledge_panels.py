"""The SOP and its checklist on the page of an incident."""

from typing import Any

from django import template
from django.template.context import Context
from django.utils.translation import get_language

from incidents.actions.rights import may
from incidents.models import Incident
from knowledge import queries
from knowledge.actions.checklists import WORKABLE
from knowledge.models import ChecklistRun

register = template.Library()


@register.inclusion_tag("knowledge/_sop_panel.html", takes_context=True)
def sop_panel(context: Context, incident: Incident) -> dict[str, Any]:
    """The checklists of the incident, and the SOPs that are suggested and not begun."""
    checklists = queries.checklists_of(incident)
    is_live = bool(context.get("is_live"))
    open_ones = [one for one in checklists if one.run.state == ChecklistRun.State.OPEN]
    begun = {one.slug for one in checklists}
    suggested = queries.suggested(incident, get_language() or "en")
    names = ("user", "csrf_token", "refused_verb", "typed", "refusal", "now")
    return {name: context[name] for name in names if name in context} | {
        "incident": incident,
        "open": open_ones,
        "ended": [one for one in checklists if one.run.state != ChecklistRun.State.OPEN],
        "suggested": [one for one in suggested if one.slug not in begun],
        "may_work": may(context["user"], "checklist.work", incident) and incident.state in WORKABLE,
        "is_live": is_live,
        # A swap would take away what somebody types into a step.
        "is_kept": is_live and bool(open_ones),
    }
