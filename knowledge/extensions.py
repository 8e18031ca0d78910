"""What this app adds to the apps below."""

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from incidents.extension_points import ClosureAnswer, closure_checks, merge_followers
from incidents.models import Incident
from knowledge import queries
from knowledge.actions import checklists
from knowledge.models import ChecklistRun

merge_followers.add("checklists", checklists.follow_merge)


@closure_checks.register("checklist")
def checklist_answer(incident: Incident) -> ClosureAnswer | None:
    """Finished, or its skipping explained. Nothing is asked where no SOP is published for the fault and none was begun."""
    title = _("Checklist finished, or its skipping explained")
    runs = list(incident.checklists.select_related("revision__sop").order_by("id"))
    opened = [run for run in runs if run.state == ChecklistRun.State.OPEN]
    if opened:
        names = ", ".join(run.revision.title for run in opened)
        return ClosureAnswer(
            title, False, _("Finish the checklist '%(names)s', or leave it and say why.") % {"names": names}
        )
    if runs:
        return ClosureAnswer(title, True, _how_it_ended(runs[-1]))
    suggestion = next(iter(queries.suggested(incident, get_language() or "")), None)
    if suggestion is None:
        return None
    words = {"title": suggestion.revision.title}
    return ClosureAnswer(
        title, False, _("Work through the checklist of '%(title)s', or say why it was not used.") % words
    )


def _how_it_ended(run: ChecklistRun) -> str:
    words = {"title": run.revision.title, "number": run.revision.number, "reason": run.skip_reason}
    if run.state == ChecklistRun.State.FINISHED:
        return _("'%(title)s', revision %(number)s, is worked through.") % words
    return _("'%(title)s' was not worked through: %(reason)s") % words
