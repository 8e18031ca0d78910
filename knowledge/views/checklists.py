"""The doors of a checklist: begin, tick, leave."""

from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from incidents.actions.rights import who
from incidents.models import Incident, User
from incidents.queries import incidents_for
from incidents.views import doors
from incidents.views import incident as incident_page
from knowledge.actions import checklists
from knowledge.models import ChecklistRun, SopRevision


def _incident(user: User, pk: int) -> Incident:
    return get_object_or_404(incidents_for(user), pk=pk)


def _back(incident: Incident) -> str:
    return f"{incident.get_absolute_url()}#checklist"


@login_required
@require_POST
def checklist_start(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin the checklist of a revision, which stays pinned."""
    incident = _incident(who(request), pk)
    given = request.POST.get("revision", "")
    revision = get_object_or_404(SopRevision, pk=int(given) if given.isdecimal() and len(given) < 18 else 0)
    return doors.attempt(
        lambda: checklists.start(incident, revision, by=who(request), at=timezone.now()),
        then=_back(incident),
        page=partial(incident_page.refused, request, incident, verb="checklist"),
    )


@login_required
@require_POST
def checklist_skip(request: HttpRequest, pk: int) -> HttpResponse:
    """Say why the SOP is not worked through."""
    incident = _incident(who(request), pk)
    return doors.attempt(
        lambda: checklists.explain_skip(
            incident, reason=request.POST.get("reason", "")[:2000], by=who(request), at=timezone.now()
        ),
        then=_back(incident),
        page=partial(incident_page.refused, request, incident, verb="checklist"),
    )


@login_required
@require_POST
def checklist_tick(request: HttpRequest, pk: int, key: str) -> HttpResponse:
    """What became of one step. `expected` is the newest result that the person saw."""
    run = get_object_or_404(ChecklistRun.objects.select_related("revision__sop"), pk=pk)
    incident = _incident(who(request), run.incident_id)
    given = request.POST
    expected = given.get("expected", "")

    def tick() -> None:
        checklists.tick(
            run,
            key,
            state=given.get("state", ""),
            answer=given.get("answer", "")[:100],
            note=given.get("note", "")[:2000],
            expected_latest=int(expected) if expected.isdecimal() and len(expected) < 18 else None,
            by=who(request),
            at=timezone.now(),
        )

    page = partial(incident_page.refused, request, incident, verb=f"step-{key}")
    return doors.attempt(tick, then=_back(incident), page=page)
