"""The page of one incident and its live parts."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from incidents import queries
from incidents.actions.rights import may, who
from incidents.domain import faults, severity, sla, workflow
from incidents.domain.workflow import State
from incidents.extension_points import live_versions
from incidents.forms.incidents import CLOCK_WORDS, fault_choices
from incidents.models import CLOCKS, DISPOSITIONS, TIERS, Incident, User, Waiting
from incidents.views import moves
from incidents.views.doors import Refusal

POLL_SECONDS = 3
TIMELINE_SHOWN = 60
STARTED = {
    State.OPEN: "declared_at",
    State.ACKNOWLEDGED: "acknowledged_at",
    State.MITIGATED: "mitigated_at",
    State.REPAIRING: "repair_started_at",
    State.VERIFYING: "verifying_at",
    State.RESTORED: "restored_at",
    State.CLOSED: "closed_at",
}


@dataclass(frozen=True)
class Stop:
    """A stop of the road: passed, here or to come; when it was reached."""

    state: str
    at: datetime | None
    place: str  # "done", "here", "" (to come) or "left" (never reached)


def road_of(incident: Incident) -> list[Stop]:
    """The seven stops. An incident that was merged or closed early has stops that it left out."""
    ended = incident.state in {State.CLOSED, State.MERGED}
    return [_stop(incident, state, ended=ended) for state in workflow.ROAD]


def _stop(incident: Incident, state: State, *, ended: bool) -> Stop:
    reached = getattr(incident, STARTED[state])
    if incident.state == state:
        return Stop(state, incident.state_at, "here")
    order = workflow.ROAD.index(state)
    passed = ended or (incident.state in workflow.ROAD and order < workflow.ROAD.index(State(incident.state)))
    if not passed:
        return Stop(state, None, "")
    return Stop(state, reached, "done" if reached else "left")


def times_of(incident: Incident) -> sla.Times:
    ended = incident.closed_at or (incident.state_at if incident.state == State.MERGED else None)
    return sla.Times(
        incident.severity,
        incident.declared_at,
        incident.acknowledged_at,
        incident.mitigated_at,
        incident.restored_at,
        ended,
    )


def etag_of(incident: Incident, *, at: datetime) -> str:
    """Changes with everything that the live parts show; the minute is in it because they show running times."""
    others = (version(incident) for _name, version in live_versions.items())
    minute = at.strftime("%H%M") if incident.is_open else ""
    return "-".join(("i", str(incident.pk), str(incident.version), get_language() or "en", minute, *others))


def live_context(request: HttpRequest, incident: Incident, *, at: datetime) -> dict[str, Any]:
    """What the live parts show."""
    waiting = incident.waits.filter(until=None).first()
    etag = etag_of(incident, at=at)
    timeline = list(queries.timeline_of(incident)[: TIMELINE_SHOWN + 1])
    fault = faults.get(incident.fault)
    return {
        "incident": incident,
        "now": at,
        "fault": fault,
        "stops": road_of(incident),
        "clocks": sla.clocks(times_of(incident), at=at),
        "parts": list(incident.parts.select_related("part")),
        "waiting": waiting,
        "timeline": timeline[:TIMELINE_SHOWN],
        "timeline_is_cut": len(timeline) > TIMELINE_SHOWN,
        "road": moves.road(incident, who(request)),
        "more": moves.more(incident, who(request)),
        "verify": fault.verify,
        "missing": queries.missing_for_restore(incident) if incident.state == State.VERIFYING else (),
        "live_headers": json.dumps({"If-None-Match": f'"{etag}"'}),
        "poll_seconds": POLL_SECONDS,
        "page_path": incident.get_absolute_url(),
    }


def page_context(request: HttpRequest, incident: Incident, *, at: datetime) -> dict[str, Any]:
    """The live parts and what stands still: dialogs, clocks to correct, what was seen before."""
    user = who(request)
    answers = queries.closure_answers(incident) if incident.state == State.RESTORED else ()
    return live_context(request, incident, at=at) | {
        "answers": answers,
        "unmet": [answer for answer in answers if not answer.met],
        "seen": queries.seen_before(user, incident),
        "faults": fault_choices(),
        "tiers": [tier for tier, _word in TIERS],
        "targets": severity.TARGETS,
        "dispositions": DISPOSITIONS,
        "wait_reasons": Waiting.Reason.choices,
        "people": User.objects.filter(is_active=True, is_service=False).order_by("display_name", "username"),
        "seven": [(name, CLOCK_WORDS[name], getattr(incident, name)) for name in CLOCKS],
        "mergeable": queries.open_of_same_subject(user, incident),
        "may_note": may(user, "incident.note", incident),
        "may_move": may(user, "incident.move", incident),
        "may_write_postmortem": may(user, "postmortem.write", incident),
        "needs_postmortem": incident.peak_severity in severity.NEEDS_POSTMORTEM,
        "postmortem": getattr(incident, "postmortem", None),
    }


@login_required
@require_safe
def incident(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(queries.incidents_for(who(request)), pk=pk)
    return render(request, "incidents/detail.html", page_context(request, row, at=timezone.now()))


def refused(request: HttpRequest, incident: Incident, refusal: Refusal, *, verb: str = "") -> HttpResponse:
    """The page as it is now, with what was refused and why; what was typed is kept."""
    row = get_object_or_404(queries.incidents_for(who(request)), pk=incident.pk)
    context = page_context(request, row, at=timezone.now())
    context |= {"refusal": refusal, "refused_verb": verb, "typed": request.POST}
    return render(request, "incidents/detail.html", context, status=refusal.status)


@login_required
@require_safe
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """The live parts, or 304 if the browser has them already. Who may not see the incident gets 404 first."""
    row = get_object_or_404(queries.incidents_for(who(request)), pk=pk)
    now = timezone.now()
    etag = f'"{etag_of(row, at=now)}"'
    answer: HttpResponse
    if etag in request.headers.get("If-None-Match", ""):
        answer = HttpResponseNotModified()
    else:
        answer = render(request, "incidents/_live.html", live_context(request, row, at=now) | {"is_live": True})
    answer["ETag"] = etag
    patch_cache_control(answer, private=True, no_cache=True)
    return answer
