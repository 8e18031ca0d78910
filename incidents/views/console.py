from datetime import datetime, timedelta

from django.contrib.auth.decorators import login_required
from django.db.models import Case, Q, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from incidents import queries
from incidents.actions.rights import may, who
from incidents.domain.workflow import OPEN_STATES, State
from incidents.models import Source, User
from incidents.views.fleet import fleet_of
from incidents.views.rows import Row, rows_of

SHOWN = 25
AT_RISK_SHOWN = 6
RESTORED_WITHIN = timedelta(hours=12)


@login_required
@require_safe
def console(request: HttpRequest) -> HttpResponse:
    """What needs the reader, first; then the fleet, the tiers, the clocks at risk."""
    now, user = timezone.now(), who(request)
    needs = _needs(user, at=now)
    tiers = queries.open_by_tier(user)
    context = {
        "now": now,
        "needs": needs,
        "unanswered": sum(1 for row in needs if row.incident.state == State.OPEN),
        "tiers": tiers,
        "open_count": sum(tier.count for tier in tiers),
        "fleet": fleet_of(user),
        "at_risk": _at_risk(user, at=now),
        "restored": _restored(user, at=now),
        "sources": Source.objects.filter(revoked_at=None).count(),
        "may_open": may(user, "incident.open"),
        "may_answer": may(user, "incident.acknowledge"),
    }
    return render(request, "incidents/console.html", context)


def _needs(user: User, *, at: datetime) -> list[Row]:
    """Not acknowledged, or mine and not finished; the gravest unanswered one first."""
    mine = Q(assignee=user, state__in=(*OPEN_STATES, State.RESTORED))
    unanswered = Case(When(state=State.OPEN, then=Value(0)), default=Value(1))
    wanted = queries.incidents_for(user).filter(Q(state=State.OPEN) | mine)
    return rows_of(wanted.order_by(unanswered, "severity", "declared_at", "id")[:SHOWN], at=at)


def _at_risk(user: User, *, at: datetime) -> list[Row]:
    """Running clocks that are at risk or over, the one that is left least first."""
    recent = queries.incidents_for(user).filter(state__in=OPEN_STATES).order_by("severity", "declared_at", "id")[:200]
    rows = [row for row in rows_of(recent, at=at) if row.clock and row.clock.standing]
    return sorted(rows, key=lambda row: row.clock.left if row.clock else timedelta())[:AT_RISK_SHOWN]


def _restored(user: User, *, at: datetime) -> list[Row]:
    done = queries.incidents_for(user).filter(restored_at__gte=at - RESTORED_WITHIN)
    return rows_of(done.order_by("-restored_at", "-id")[:AT_RISK_SHOWN], at=at)
