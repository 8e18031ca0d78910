"""Evidence: a window of its lines, its bytes as a download, and the door that takes more of it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST, require_safe

from diagnostics import queries
from diagnostics.actions import evidence as kept
from diagnostics.actions import uploads
from diagnostics.engine.parsers.text import clean, decode, is_binary
from diagnostics.models import Finding
from incidents.actions.rights import who
from incidents.lib.errors import SickbayError
from incidents.lib.text import visible
from incidents.queries import incidents_for
from incidents.views import doors
from incidents.views import incident as incident_page

AROUND = 150  # lines before and after the one that is asked for
MATCHES_SHOWN = 300
LONGEST = 4000  # characters of a line that are shown


@dataclass(frozen=True)
class Line:
    number: int
    text: str
    mark: str  # "hit": the line of a root finding, "follow": of another, "": none


@dataclass(frozen=True)
class Window:
    """The lines shown, of how many; `first` and `last` are their numbers."""

    lines: tuple[Line, ...]
    total: int
    first: int
    last: int
    matches: int | None = None  # how many lines hold the text that was searched for


def _shown(text: str) -> str:
    return visible(clean(text)[:LONGEST])


def _marks(findings: list[Finding]) -> dict[int, str]:
    marks: dict[int, str] = {}
    for finding in findings:
        if finding.line_number:
            kind = "hit" if finding.root else "follow"
            marks[finding.line_number] = "hit" if marks.get(finding.line_number) == "hit" else kind
    return marks


def window_of(text: str, marks: dict[int, str], *, at: int, search: str = "") -> Window:
    """The lines around `at`, or those that hold the searched text (any case)."""
    rows = text.split("\n")
    if rows and not rows[-1]:
        rows.pop()
    if search:
        wanted = search.lower()
        hits = [number for number, row in enumerate(rows, 1) if wanted in row.lower()]
        numbers = hits[:MATCHES_SHOWN]
        matches = len(hits)
    else:
        at = min(max(at, 1), max(len(rows), 1))
        numbers = list(range(max(at - AROUND, 1), min(at + AROUND, len(rows)) + 1))
        matches = None
    lines = tuple(Line(number, _shown(rows[number - 1]), marks.get(number, "")) for number in numbers)
    return Window(lines, len(rows), numbers[0] if numbers else 0, numbers[-1] if numbers else 0, matches)


@login_required
@require_safe
def evidence(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(queries.evidence_for(who(request)).select_related("run"), pk=pk)
    findings = list(row.findings.order_by("-root", "line_number"))
    asked = request.GET.get("line", "")
    first_hit = next((one.line_number for one in findings if one.line_number), 1)
    line = int(asked) if asked.isdecimal() and len(asked) < 12 else first_hit
    search = request.GET.get("q", "").strip()[:200]
    context: dict[str, Any] = {
        "evidence": row,
        "findings": findings,
        "line": line,
        "search": search,
        "first_hit": first_hit if findings else None,
    }
    try:
        data = kept.read(row)
    except SickbayError as error:
        refusal = doors.refusal_of(error)
        return render(
            request, "diagnostics/evidence.html", context | {"refusal": refusal}, status=410 if row.purged_at else 503
        )
    if is_binary(data):
        return render(request, "diagnostics/evidence.html", context | {"is_binary": True})
    shown = window_of(decode(data), _marks(findings), at=line, search=search)
    context |= {
        "window": shown,
        "earlier": max(shown.first - AROUND, 1) if not search and shown.first > 1 else None,
        "later": shown.last + AROUND if not search and shown.last < shown.total else None,
    }
    return render(request, "diagnostics/evidence.html", context)


@login_required
@require_safe
def evidence_download(request: HttpRequest, pk: int) -> HttpResponse:
    """The bytes as they were kept, as an attachment: never shown by the browser as a page of ours."""
    row = get_object_or_404(queries.evidence_for(who(request)), pk=pk)
    try:
        data = kept.read(row)
    except SickbayError as error:
        return doors.plain_refusal(request, doors.refusal_of(error))
    answer = HttpResponse(data, content_type="application/octet-stream")
    answer["Content-Disposition"] = content_disposition_header(True, row.name) or "attachment"
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


@login_required
@require_POST
def incident_evidence(request: HttpRequest, pk: int) -> HttpResponse:
    """A file that is uploaded, or text that is pasted."""
    row = get_object_or_404(incidents_for(who(request)), pk=pk)
    name, data = _given(request)
    return doors.attempt(
        lambda: uploads.add_evidence(incident=row, name=name, data=data, by=who(request), at=timezone.now()),
        then=f"{row.get_absolute_url()}#evidence",
        page=partial(incident_page.refused, request, row, verb="evidence"),
    )


def _given(request: HttpRequest) -> tuple[str, bytes]:
    """Name and bytes; one byte more than the limit is read, so that the action can say that it is too long."""
    file = request.FILES.get("file")
    if file is not None and not isinstance(file, list):
        return file.name or "", file.read(settings.EVIDENCE_UPLOAD_MAX_BYTES + 1)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return request.POST.get("name", "").strip() or "pasted.txt", text.encode()
