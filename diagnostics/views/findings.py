"""What a person says of a finding."""

from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from diagnostics import queries
from diagnostics.actions import findings
from incidents.actions.rights import who
from incidents.queries import incidents_for
from incidents.views import doors
from incidents.views import incident as incident_page

SAY = {"confirm": findings.confirm, "reject": findings.reject}


@login_required
@require_POST
def finding_say(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """Confirm or reject; then back to the incident, or to the run if there is none."""
    row = get_object_or_404(queries.findings_for(who(request)), pk=pk)
    incident = incidents_for(who(request)).filter(pk=row.incident_id or 0).first()
    page = partial(incident_page.refused, request, incident) if incident else partial(doors.plain_refusal, request)
    then = f"{incident.get_absolute_url()}#findings" if incident else reverse("run", args=[row.run_id])
    note = request.POST.get("note", "")[:2000]
    return doors.attempt(lambda: SAY[verb](row, by=who(request), at=timezone.now(), note=note), then=then, page=page)
