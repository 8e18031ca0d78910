"""The library, one SOP, one fault."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from incidents.actions.rights import who
from incidents.domain import faults
from incidents.queries import incidents_for
from knowledge import queries
from knowledge.models import Sop, SopRevision

RECENT = 8


def language_of(request: HttpRequest) -> str:
    """The language asked for by `?lang=`, else that of the page."""
    asked = request.GET.get("lang", "")
    return asked if asked in dict(settings.LANGUAGES) else get_language() or "en"


@dataclass(frozen=True)
class FamilyCoverage:
    """A family of faults: how many of them have an SOP, and which have none."""

    family: str
    covered: int
    total: int
    lacking: tuple[faults.Fault, ...]


def _by_family(rows: tuple[queries.Coverage, ...]) -> list[FamilyCoverage]:
    """By the first word of the code, in the order of the table."""
    groups: dict[str, list[queries.Coverage]] = {}
    for row in rows:
        groups.setdefault(row.fault.code.partition(".")[0], []).append(row)
    return [
        FamilyCoverage(
            name,
            sum(bool(row.slug) for row in members),
            len(members),
            tuple(row.fault for row in members if not row.slug),
        )
        for name, members in groups.items()
    ]


@login_required
@require_safe
def sop_list(request: HttpRequest) -> HttpResponse:
    may_read = queries.sops_for(who(request)).exists()
    rows = queries.library(language_of(request)) if may_read else ()
    wanted = request.GET.get("q", "").strip().lower()
    shown = [row for row in rows if wanted in f"{row.title} {row.slug} {' '.join(row.faults)}".lower()]
    coverage = queries.coverage()
    context = {
        "rows": shown,
        "all": rows,
        "wanted": wanted,
        "tiers": {row.slug: min((faults.get(code).severity for code in row.faults), default="") for row in rows},
        "covered": sum(bool(row.slug) for row in coverage),
        "faults": len(coverage),
        "families": _by_family(coverage),
    }
    return render(request, "knowledge/sop_list.html", context)


@login_required
@require_safe
def sop(request: HttpRequest, slug: str) -> HttpResponse:
    """The published revision; `?rev=` shows another and says that it is old, `?lang=` another language."""
    get_object_or_404(queries.sops_for(who(request)), slug=slug)
    revision = request.GET.get("rev", "")
    number = int(revision) if revision.isdecimal() and len(revision) < 9 else None
    try:
        article = queries.article(slug, language_of(request), number)
    except (Sop.DoesNotExist, SopRevision.DoesNotExist) as error:
        raise Http404 from error
    used = incidents_for(who(request)).filter(checklists__sop__slug=slug).distinct().order_by("-id")
    context = {"article": article, "used": used[:RECENT], "used_count": used.count(), "asked": language_of(request)}
    return render(request, "knowledge/sop.html", context)


@login_required
@require_safe
def fault(request: HttpRequest, code: str) -> HttpResponse:
    """What a fault is and what is done about it. The address is stable: every code of the table has this page."""
    try:
        found = faults.get(code)
    except faults.UnknownFault as error:
        raise Http404(str(error)) from error
    seen = incidents_for(who(request)).filter(fault=code).order_by("-id")
    family = [other for other in faults.all_faults() if other.family == found.family and other.code != code]
    context = {
        "fault": found,
        "xids": [xid for xid in faults.all_xids() if xid.fault == code],
        "sxids": [sxid for sxid in faults.all_sxids() if sxid.fault == code],
        "family": family,
        "revision": queries.sop_of_fault(code, language_of(request)),
        "seen": seen[:RECENT],
        "seen_count": seen.count(),
    }
    return render(request, "knowledge/fault.html", context)
