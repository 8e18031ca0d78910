"""The list of incidents, and opening one by hand."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from incidents import queries
from incidents.actions import lifecycle
from incidents.actions.rights import may, who
from incidents.domain import faults
from incidents.domain.workflow import OPEN_STATES, State
from incidents.forms.incidents import FilterForm, OpenForm, fault_choices
from incidents.models import Incident, User, Waiting
from incidents.views import doors
from incidents.views.rows import rows_of

PAGE = 50
VIEWS = ("open", "mine", "unanswered", "waiting", "paperwork", "all")


def _views(user: User) -> dict[str, Q]:
    """The tabs of the list, each a condition."""
    still_open = Q(state__in=OPEN_STATES)
    return {
        "open": still_open,
        "mine": Q(assignee=user, state__in=(*OPEN_STATES, State.RESTORED)),
        "unanswered": Q(state=State.OPEN),
        "waiting": still_open & Q(pk__in=_waiting_ids()),
        "paperwork": Q(state=State.RESTORED),
        "all": Q(),
    }


def _waiting_ids() -> QuerySet:
    return Waiting.objects.filter(until=None).values("incident")


@login_required
@require_safe
def incident_list(request: HttpRequest) -> HttpResponse:
    """Filtered by what stands in the address, newest first, fifty at a time; "older" goes on by key, not by count."""
    now, user = timezone.now(), who(request)
    form = FilterForm(request.GET)
    given = form.values()
    seen = queries.incidents_for(user)
    view = given.get("view") or ("all" if _narrowed(given) else "open")
    tabs = _views(user)
    found = filtered(seen.filter(tabs[view]), given)
    total = found.count()
    if "before" in given:
        found = found.filter(pk__lt=given["before"])
    rows = rows_of(found.order_by("-id")[: PAGE + 1], at=now)
    counts = seen.aggregate(
        **{name: Count("pk", filter=condition) for name, condition in tabs.items() if name != "all"}
    )
    context = {
        "now": now,
        "rows": rows[:PAGE],
        "older": _address(given | {"before": rows[PAGE - 1].incident.pk}) if len(rows) > PAGE else "",
        "newest": _address({name: value for name, value in given.items() if name != "before"})
        if "before" in given
        else "",
        "total": total,
        "view": view,
        "tabs": [(name, word, counts.get(name)) for name, word in form.fields["view"].choices],  # type: ignore[attr-defined]
        "counts": counts,
        "given": given,
        "chips": _chips(given),
        "form": form,
        "may_open": may(user, "incident.open"),
    }
    return render(request, "incidents/list.html", context)


def _narrowed(given: dict[str, Any]) -> bool:
    return bool({"state", "month", "ids", "q", "node", "fault"} & given.keys())


def filtered(rows: QuerySet[Incident], given: dict[str, Any]) -> QuerySet[Incident]:
    """The rows that pass every filter that is set."""
    for name, condition in CONDITIONS.items():
        if name in given:
            rows = rows.filter(condition(given[name]))
    return rows


def _text(words: str) -> Q:
    """Reference, host, rack, job, fault code, or the title of the fault in either language."""
    wanted = words.strip().lower()
    number = wanted.removeprefix("inc-")
    titled = [f.code for f in faults.all_faults() if wanted in f.title.lower() or wanted in f.title_zh.lower()]
    reference = Q(pk=int(number)) if number.isdecimal() and len(number) < 18 else Q(pk__in=[])
    return (
        reference
        | Q(fault__in=titled)
        | Q(fault__icontains=wanted)
        | Q(node__hostname__icontains=wanted)
        | Q(node__serial__iexact=wanted)
        | Q(rack__name__icontains=wanted)
        | Q(job__name__icontains=wanted)
        | Q(job__scheduler_id__iexact=wanted)
    )


def month_bounds(period: str) -> tuple[datetime, datetime]:
    """ "2026-11" -> the first moment of the month and of the next, in UTC."""
    year, month = (int(part) for part in period.split("-"))
    start = datetime(year, month, 1, tzinfo=UTC)
    return start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def _month(period: str) -> Q:
    start, end = month_bounds(period)
    return Q(declared_at__gte=start, declared_at__lt=end)


CONDITIONS = {
    "state": lambda value: Q(state=value),
    "severity": lambda value: Q(severity=value),
    "fault": lambda value: Q(fault=value) | Q(family=value),
    "node": lambda value: Q(node__hostname=value.lower()),
    "month": _month,
    "ids": lambda value: Q(pk__in=[int(number) for number in value.split(",")]),
    "q": _text,
}


def _chips(given: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What is filtered: name, value, and the address of the list without it."""
    words = {
        "state": _("State"),
        "severity": _("Tier"),
        "fault": _("Fault"),
        "node": _("Node"),
        "month": _("Month"),
        "ids": _("Chosen rows"),
        "q": _("Text"),
    }
    return [
        (words[name], _chip_value(name, value), _address({k: v for k, v in given.items() if k not in {name, "before"}}))
        for name, value in given.items()
        if name in words
    ]


def _chip_value(name: str, value: Any) -> str:
    return str(len(value.split(","))) if name == "ids" else str(value)


def _address(given: dict[str, Any]) -> str:
    return "?" + urlencode(given)


@login_required
@require_http_methods(["GET", "POST"])
def incident_new(request: HttpRequest) -> HttpResponse:
    """Opening one by hand; if the subject has one of this family already, that one is shown."""
    nodes = queries.nodes_for(who(request))
    form = OpenForm(
        request.POST or None,
        nodes=nodes,
        initial={"node": request.GET.get("node", ""), "fault": request.GET.get("fault", "")},
    )
    if request.method == "POST" and form.is_valid():
        return _open(request, form)
    return _new_page(request, form, status=400 if form.errors else 200)


def _open(request: HttpRequest, form: OpenForm) -> HttpResponse:
    given = form.cleaned_data
    subject = lifecycle.Subject(node=given["node"])
    try:
        opened, _is_new = lifecycle.open_incident(
            subject, given["fault"], by=who(request), at=timezone.now(), tier=given["tier"], text=given["text"]
        )
    except tuple(doors.STATUS) as error:
        refusal = doors.refusal_of(error)
        return _new_page(request, form, status=refusal.status, refusal=refusal)
    return redirect(opened)


def _new_page(
    request: HttpRequest, form: OpenForm, *, status: int, refusal: doors.Refusal | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "refusal": refusal,
        "nodes": form.nodes.order_by("hostname")[:2000],
        "faults": fault_choices(),
        "may_open": may(who(request), "incident.open"),
    }
    return render(request, "incidents/new.html", context, status=status)
