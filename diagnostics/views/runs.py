"""The page of a run, and the doors that start and stop one."""

import json
from functools import partial
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from diagnostics import queries
from diagnostics.actions import runs, verifying
from diagnostics.models import DiagnosticRun
from diagnostics.views.progress import view_of
from incidents.actions.rights import may, who
from incidents.domain.workflow import State
from incidents.models import Incident, Node, User
from incidents.queries import incidents_for, nodes_for
from incidents.views import doors, fleet
from incidents.views import incident as incident_page

POLL_SECONDS = 2


def _one(user: User, pk: int) -> DiagnosticRun:
    return get_object_or_404(queries.runs_for(user), pk=pk)


def _etag(run: DiagnosticRun, version: str) -> str:
    return f'"r-{version}-{get_language() or "en"}"'


def _live(request: HttpRequest, run: DiagnosticRun) -> dict[str, Any]:
    view = view_of(run)
    findings = queries.findings_for(who(request)).filter(run=run, parent=None).order_by("-root", "severity", "id")
    return {
        "run": run,
        "view": view,
        "findings": list(findings),
        "evidence": run.evidence.select_related("purge").order_by("id"),
        "may_run": may(who(request), "run.start", run.incident or run.node),
        "live_headers": json.dumps({"If-None-Match": _etag(run, view.progress.version)}),
        "poll_seconds": POLL_SECONDS,
        "page_path": reverse("run", args=[run.pk]),
        "now": timezone.now(),
    }


@login_required
@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    row = _one(who(request), pk)
    others = queries.runs_for(who(request)).exclude(pk=pk).order_by("-id")
    before = others.filter(node=row.node, pk__lt=pk)[:5] if row.node_id else []
    return render(request, "diagnostics/run.html", _live(request, row) | {"before": [view_of(one) for one in before]})


@login_required
@require_safe
def run_live(request: HttpRequest, pk: int) -> HttpResponse:
    """The page's live parts, or 304. Who may not see the run gets 404 first."""
    row = _one(who(request), pk)
    etag = _etag(row, queries.run_progress(row).version)
    answer: HttpResponse
    if etag in request.headers.get("If-None-Match", ""):
        answer = HttpResponseNotModified()
    else:
        answer = render(request, "diagnostics/_run_live.html", _live(request, row) | {"is_live": True})
    answer["ETag"] = etag
    patch_cache_control(answer, private=True, no_cache=True)
    return answer


@login_required
@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    row = _one(who(request), pk)
    return doors.attempt(
        lambda: runs.cancel(row, by=who(request), at=timezone.now()),
        then=reverse("run", args=[pk]),
        page=partial(doors.plain_refusal, request),
    )


@login_required
@require_POST
def incident_diagnose(request: HttpRequest, pk: int) -> HttpResponse:
    """A run by hand; while the incident is verifying, one that can prove the repair."""
    row = get_object_or_404(incidents_for(who(request)), pk=pk)
    return doors.attempt(
        lambda: _diagnose(row, by=who(request)),
        then=f"{row.get_absolute_url()}#live-run",
        page=partial(incident_page.refused, request, row),
    )


def _diagnose(incident: Incident, *, by: User) -> None:
    now = timezone.now()
    proves = verifying.verify(incident, by=by, at=now) if incident.state == State.VERIFYING else None
    if proves is None:
        runs.start(incident=incident, purpose=DiagnosticRun.Purpose.MANUAL, by=by, at=now)


@login_required
@require_POST
def node_diagnose(request: HttpRequest, pk: int) -> HttpResponse:
    node: Node = get_object_or_404(nodes_for(who(request)), pk=pk)
    try:
        started = runs.start(node=node, purpose=DiagnosticRun.Purpose.MANUAL, by=who(request), at=timezone.now())
    except tuple(doors.STATUS) as error:
        return fleet.node_page(request, node, doors.refusal_of(error))
    return doors.see(reverse("run", args=[started.pk]))
