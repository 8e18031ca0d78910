"""The list of SOPs, and the faults that have one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet

from incidents.domain import faults
from knowledge.models import ChecklistRun, FaultLink, Publication, Sop, SopRevision, Step
from knowledge.queries.revisions import in_language


@dataclass(frozen=True)
class ArticleRow:
    """A SOP in the list. `language` is that of the revision shown; `number` and `at` are None where nothing is published."""

    slug: str
    title: str
    status: str
    owner: str
    faults: tuple[str, ...]
    language: str
    number: int | None
    at: datetime | None
    author: str
    languages: tuple[str, ...]
    step_count: int
    checklist_count: int


def library(language: str, *, fault: str = "") -> tuple[ArticleRow, ...]:
    """Every SOP by title, in this language where it is published in it; in a constant number of queries."""
    sops = Sop.objects.exclude(status=Sop.Status.RETIRED).prefetch_related("fault_links")
    if fault:
        sops = sops.filter(fault_links__fault=fault)
    published: dict[int, list[SopRevision]] = {}
    for row in (
        Publication.objects.select_related("revision", "sop").defer("revision__body").order_by("sop", "language")
    ):
        published.setdefault(row.sop_id, []).append(row.revision)
    steps = _counts(Step.objects.filter(revision__publications__isnull=False).values_list("revision"))
    used = _counts(ChecklistRun.objects.values_list("sop"))
    rows = (_article_row(sop, published.get(sop.pk, []), language, steps, used) for sop in sops)
    return tuple(sorted(rows, key=lambda row: (row.title, row.slug)))


def _counts(rows: QuerySet) -> dict[int, int]:
    return dict(rows.annotate(n=Count("pk", distinct=True)).order_by())


def _article_row(
    sop: Sop, published: list[SopRevision], language: str, steps: Mapping[int, int], used: Mapping[int, int]
) -> ArticleRow:
    source_first = sorted(published, key=lambda one: one.language != sop.source_language)
    shown = in_language(source_first, language)
    return ArticleRow(
        slug=sop.slug,
        title=shown.title if shown else sop.slug,
        status=sop.status,
        owner=sop.owner,
        faults=tuple(link.fault for link in sorted(sop.fault_links.all(), key=lambda link: link.priority)),
        language=shown.language if shown else sop.source_language,
        number=shown.number if shown else None,
        at=shown.created_at if shown else None,
        author=shown.author_name if shown else "",
        languages=tuple(one.language for one in source_first),
        step_count=steps.get(shown.pk, 0) if shown else 0,
        checklist_count=used.get(sop.pk, 0),
    )


@dataclass(frozen=True)
class Coverage:
    """A fault and the SOP that is published for it; `slug` is empty where there is none."""

    fault: faults.Fault
    slug: str


def coverage() -> tuple[Coverage, ...]:
    """Every fault of the table, in its order, in one query."""
    links = FaultLink.objects.filter(sop__publications__isnull=False).order_by("priority", "sop__slug")
    best: dict[str, str] = {}
    for fault, slug in links.values_list("fault", "sop__slug"):
        best.setdefault(fault, slug)
    return tuple(Coverage(fault, best.get(fault.code, "")) for fault in faults.all_faults())
