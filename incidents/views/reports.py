"""The month: counts, times, recurrence, each number with its rows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from incidents import queries
from incidents.actions.rights import who
from incidents.domain import charts, faults, severity, statistics
from incidents.views.incidents import month_bounds

FAULTS_DRAWN = 12
IDS_IN_ADDRESS = 300  # a web server takes about 4,000 characters of an address
MONTHS_BACK = 12
FIRST = "2015-01"


@dataclass(frozen=True)
class Line:
    """A number of the page with the address of exactly its rows."""

    label: str
    count: int
    href: str


@login_required
@require_safe
def month(request: HttpRequest, period: str = "") -> HttpResponse:
    now = timezone.now()
    current = f"{now:%Y-%m}"
    period = period or current
    if not FIRST <= period <= current:
        raise Http404
    start, end = month_bounds(period)
    figures = queries.month_of(who(request), start=start, end=end, as_of=now)
    context = {
        "now": now,
        "figures": figures,
        "start": start,
        "period": period,
        "is_running": period == current,
        "days": (min(end, now) - start) // timedelta(days=1),
        "severities": [_line(row, period, severity=row.label) for row in _all_tiers(figures.by_severity)],
        "faults": [_line(row, period, fault=row.label) for row in figures.by_fault],
        "all": _line(figures.all, period),
        "failures": _line(figures.failures, period),
        "acknowledged": _times(figures.acknowledge, period),
        "restored": _times(figures.restore, period),
        "recurrent": _line(statistics.Counted("recurred", figures.recurrence.recurred), period),
        "chart_severity": _severity_chart(figures, period),
        "chart_fault": _fault_chart(figures, period),
        "months": _months(now),
    }
    return render(request, "incidents/month.html", context)


def _all_tiers(rows: tuple[statistics.Counted, ...]) -> list[statistics.Counted]:
    """The four tiers; one that did not occur counts zero."""
    found = {row.label: row for row in rows}
    return [found.get(tier, statistics.Counted(tier, ())) for tier in severity.Tier]


def rows_address(ids: tuple[int, ...], period: str, **filters: str) -> str:
    """The list of exactly these incidents; where they are too many for an address, the filters that come nearest."""
    if not ids:
        return ""
    if len(ids) <= IDS_IN_ADDRESS:
        given = {"view": "all", "ids": ",".join(str(pk) for pk in ids)}
    else:
        given = {"view": "all", "month": period, **filters}
    return f"{reverse('incident_list')}?{urlencode(given, safe=',')}"


def _line(row: statistics.Counted, period: str, **filters: str) -> Line:
    return Line(row.label, row.count, rows_address(row.ids, period, **filters))


@dataclass(frozen=True)
class Times:
    known: Line
    running: Line
    median: timedelta | None
    p90: timedelta | None


def _times(times: statistics.Durations, period: str) -> Times:
    return Times(
        Line("known", len(times.ids), rows_address(times.ids, period)),
        Line("running", len(times.running), rows_address(times.running, period)),
        times.median,
        times.p90,
    )


def _severity_chart(figures: statistics.Month, period: str) -> SafeString:
    marks = [
        charts.Mark(row.label, row.count, rows_address(row.ids, period, severity=row.label), kind=row.label.lower())
        for row in _all_tiers(figures.by_severity)
    ]
    return _drawn(charts.bars(marks, label=_("Failures by severity"), width=560, name_width=64))


def _fault_chart(figures: statistics.Month, period: str) -> SafeString:
    shown = figures.by_fault[:FAULTS_DRAWN]
    marks = [
        charts.Mark(
            _cut(_title(row.label)),
            row.count,
            rows_address(row.ids, period, fault=row.label),
            title=f"{_title(row.label)}: {row.count}",
        )
        for row in shown
    ]
    rest = tuple(pk for row in figures.by_fault[FAULTS_DRAWN:] for pk in row.ids)
    if rest:
        marks.append(charts.Mark(_("all others"), len(rest), rows_address(rest, period), kind="rest"))
    return _drawn(
        charts.pareto(marks, label=_("Failures by fault"), share_label=_("running share"), width=560, name_width=230)
    )


def _title(code: str) -> str:
    return faults.get(code).title_in(get_language() or "en")


def _cut(words: str, length: int = 36) -> str:
    return words if len(words) <= length else words[: length - 1] + "…"


def _drawn(svg: str) -> SafeString:
    return mark_safe(svg)  # noqa: S308 (charts.py escapes every word it is given)


def _months(now: datetime) -> list[datetime]:
    """This month and those before it, newest first."""
    found, day = [], now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for _number in range(MONTHS_BACK):
        found.append(day)
        day = (day - timedelta(days=1)).replace(day=1)
    return found
