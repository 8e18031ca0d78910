"""The doors of the verbs of an incident: one address each, by POST only."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from incidents import queries
from incidents.actions import causes, clocks, lifecycle, tiers
from incidents.actions.rights import who
from incidents.forms import incidents as wanted
from incidents.lib.errors import Refused
from incidents.models import Incident, User
from incidents.views import doors
from incidents.views import incident as incident_page

Verb = Callable[..., Any]


def _take(incident: Incident, *, by: User, at: datetime) -> None:
    lifecycle.assign(incident, to=by, by=by, at=at)


def _assign(incident: Incident, *, to: User | None, by: User, at: datetime) -> None:
    lifecycle.assign(incident, to=to, by=by, at=at)


def _merge(incident: Incident, *, into: int, reason: str, by: User, at: datetime) -> None:
    target = get_object_or_404(queries.incidents_for(by), pk=into)
    causes.merge(incident, into=target, reason=reason, by=by, at=at)


def _reopen(incident: Incident, *, text: str, by: User, at: datetime) -> None:
    standing = lifecycle.reopen(incident, by=by, at=at, text=text)
    if standing.pk != incident.pk:
        raise Refused(_("%(reference)s is open for the same trouble. Go on there.") % {"reference": standing.reference})


# verb of the address -> (what is typed, what is done, where on the page one lands)
DOORS: dict[str, tuple[type[forms.Form], Verb, str]] = {
    "acknowledge": (forms.Form, lifecycle.acknowledge, ""),
    "unacknowledge": (wanted.OptionalTextForm, lifecycle.unacknowledge, ""),
    "take": (forms.Form, _take, ""),
    "assign": (wanted.AssignForm, _assign, ""),
    "note": (wanted.OptionalTextForm, lifecycle.add_note, "timeline"),
    "mitigate": (wanted.OptionalTextForm, lifecycle.mitigate, ""),
    "start_repair": (wanted.OptionalTextForm, lifecycle.start_repair, ""),
    "wait": (wanted.WaitForm, lifecycle.wait_for, ""),
    "resume": (forms.Form, lifecycle.resume, ""),
    "start_verifying": (forms.Form, lifecycle.start_verifying, ""),
    "vouch": (wanted.VouchForm, lifecycle.vouch, ""),
    "restore": (forms.Form, lifecycle.restore, ""),
    "close": (wanted.CloseForm, lifecycle.close, ""),
    "reopen": (wanted.OptionalTextForm, _reopen, ""),
    "merge": (wanted.MergeForm, _merge, ""),
    "severity": (wanted.SeverityForm, tiers.set_severity, ""),
    "cause": (wanted.CauseForm, causes.set_cause, "findings"),
    "clock": (wanted.ClockForm, clocks.edit_clock, "clocks"),
}


@login_required
@require_POST
def act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """One verb on one incident; a second press of the same button is no error."""
    incident = get_object_or_404(queries.incidents_for(who(request)), pk=pk)
    form_class, do, anchor = DOORS[verb]
    form = form_class(request.POST)
    page = partial(incident_page.refused, request, incident, verb=verb)
    if not form.is_valid():
        return page(doors.refuse_form(form))
    then = incident.get_absolute_url() + (f"#{anchor}" if anchor else "")
    return doors.attempt(
        lambda: do(incident, by=who(request), at=timezone.now(), **form.cleaned_data), then=then, page=page
    )
