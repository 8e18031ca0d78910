"""What was delivered, and what became of each alert of it."""

from collections import Counter
from dataclasses import dataclass
from functools import partial

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from incidents import queries
from incidents.actions import deliveries
from incidents.actions.rights import may, who
from incidents.lib.text import visible
from incidents.models import Alert, Delivery, User
from incidents.views import doors

PAGE = 50
ALERTS_SHOWN = 6
BODY_SHOWN = 200_000  # characters
NEED = (Delivery.State.NOT_UNDERSTOOD, Delivery.State.PARKED)
FATE_MARKS = {
    "opened": "opened",
    "joined": "joined",
    "reopened": "opened",
    "cleared": "cleared",
    "known": "same",
    "heartbeat": "same",
    "unassigned": "lost",
}


@dataclass(frozen=True)
class DeliveryRow:
    """A delivery; the alerts that it brought into the books, and how many met what fate besides."""

    delivery: Delivery
    alerts: tuple[Alert, ...]
    more: int
    others: tuple[tuple[str, str, int], ...]  # fate, its word, how many
    in_need: bool


def _row(delivery: Delivery) -> DeliveryRow:
    told = list(delivery.shown_alerts)  # type: ignore[attr-defined]
    rest = Counter(delivery.summary.get("fates", {}))
    rest.subtract(alert.fate for alert in told)
    words = dict(Alert.Fate.choices)
    others = tuple((fate, str(words.get(fate, fate)), count) for fate, count in rest.items() if count > 0)
    return DeliveryRow(
        delivery, tuple(told[:ALERTS_SHOWN]), max(len(told) - ALERTS_SHOWN, 0), others, delivery.state in NEED
    )


@login_required
@require_safe
def delivery_list(request: HttpRequest) -> HttpResponse:
    """Newest first, fifty at a time by key. What was not understood stands first, whatever its age."""
    found = queries.deliveries_for(who(request))
    show = request.GET.get("show", "")
    before = request.GET.get("before", "")
    shown = found.filter(state__in=NEED) if show == "need" else found
    if before.isdecimal() and len(before) < 18:
        shown = shown.filter(pk__lt=int(before))
    told = Alert.objects.select_related("incident", "node", "job").order_by("id")
    shown = shown.prefetch_related(Prefetch("alerts", queryset=told, to_attr="shown_alerts"))
    rows = [_row(delivery) for delivery in shown[: PAGE + 1]]
    context = {
        "now": timezone.now(),
        "rows": rows[:PAGE],
        "older": rows[PAGE - 1].delivery.pk if len(rows) > PAGE else None,
        "before": before,
        "show": show,
        "counts": found.order_by().aggregate(
            total=Count("pk"),
            need=Count("pk", filter=Q(state__in=NEED)),
            waiting=Count("pk", filter=Q(state=Delivery.State.WAITING)),
        ),
        "unassigned": [alert for alert in queries.unassigned_alerts()[:20] if may(who(request), "view", alert.source)],
        "parked": queries.parked_reactions()[:20] if may(who(request), "source.manage") else (),
        "marks": FATE_MARKS,
        "may_replay": may(who(request), "delivery.replay"),
    }
    return render(request, "incidents/delivery_list.html", context)


def _page(request: HttpRequest, delivery: Delivery, refusal: doors.Refusal | None = None) -> HttpResponse:
    told = delivery.alerts.select_related("incident", "node", "job").order_by("id")
    body = bytes(delivery.body).decode("utf-8", "replace")
    context = {
        "delivery": delivery,
        "refusal": refusal,
        "body": visible(body[:BODY_SHOWN]),
        "is_long": len(body) > BODY_SHOWN,
        "page": Paginator(told, PAGE).get_page(request.GET.get("page")),
        "in_need": delivery.state in NEED,
        "marks": FATE_MARKS,
        "may_replay": may(who(request), "delivery.replay", delivery.source),
    }
    return render(request, "incidents/delivery.html", context, status=refusal.status if refusal else 200)


def _one(user: User, pk: int) -> Delivery:
    return get_object_or_404(queries.deliveries_for(user).defer(None), pk=pk)


@login_required
@require_safe
def delivery(request: HttpRequest, pk: int) -> HttpResponse:
    return _page(request, _one(who(request), pk))


@login_required
@require_POST
def replay(request: HttpRequest, pk: int) -> HttpResponse:
    row = _one(who(request), pk)
    return doors.attempt(
        lambda: deliveries.replay(row, by=who(request), at=timezone.now()),
        then=reverse("delivery", args=[pk]),
        page=partial(_page, request, row),
    )
