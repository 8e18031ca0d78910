from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from incidents import queries
from incidents.actions import postmortems
from incidents.actions.rights import may, who
from incidents.domain import sla
from incidents.forms.postmortems import PostMortemForm
from incidents.models import Incident
from incidents.views import doors
from incidents.views.incident import times_of


def _page(request: HttpRequest, incident: Incident, refusal: doors.Refusal | None = None) -> HttpResponse:
    now = timezone.now()
    row = getattr(incident, "postmortem", None)
    kept = {name: getattr(row, name, "") for name in PostMortemForm.base_fields}
    typed = request.POST if request.method == "POST" and "summary" in request.POST else None
    context = {
        "incident": incident,
        "postmortem": row,
        "form": PostMortemForm(typed, initial=kept),
        "refusal": refusal,
        "may_write": may(who(request), "postmortem.write", incident),
        "clocks": sla.clocks(times_of(incident), at=now),
        "now": now,
    }
    return render(request, "incidents/postmortem.html", context, status=refusal.status if refusal else 200)


@login_required
@require_http_methods(["GET", "POST"])
def postmortem(request: HttpRequest, pk: int) -> HttpResponse:
    """Read it, or save the draft."""
    incident = get_object_or_404(queries.incidents_for(who(request)).select_related("postmortem__author"), pk=pk)
    if request.method == "GET":
        return _page(request, incident)
    form, page = PostMortemForm(request.POST), partial(_page, request, incident)
    if not form.is_valid():
        return page(doors.refuse_form(form))
    return doors.attempt(
        lambda: postmortems.save(incident, by=who(request), at=timezone.now(), **form.cleaned_data),
        then=reverse("postmortem", args=[pk]),
        page=page,
    )


@login_required
@require_POST
def postmortem_publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish what is saved; what is typed beside it is saved first."""
    incident = get_object_or_404(queries.incidents_for(who(request)), pk=pk)
    now = timezone.now()

    def publish() -> None:
        form = PostMortemForm(request.POST)
        if "summary" in request.POST and form.is_valid():
            postmortems.save(incident, by=who(request), at=now, **form.cleaned_data)
        postmortems.publish(incident, by=who(request), at=now)

    return doors.attempt(publish, then=reverse("postmortem", args=[pk]), page=partial(_page, request, incident))
