"""The fleet, and one node."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from incidents import queries
from incidents.actions.rights import may, who
from incidents.domain import faults
from incidents.domain.workflow import OPEN_STATES
from incidents.models import Incident, IncidentPart, LifeCycle, Node, Part, PartKind, User
from incidents.views.doors import Refusal
from incidents.views.rows import rows_of

NODES_SHOWN = 1024
IN_A_ROW = 8
PAST_SHOWN = 20
DAYS = 90


@dataclass(frozen=True)
class Cell:
    """A node in the grid: its health, why, and the health of each of its GPUs."""

    node: Node
    health: str
    why: str
    gpus: tuple[str, ...]
    incident: Incident | None


@dataclass(frozen=True)
class RackRow:
    """Up to eight nodes of a rack; only its first row carries the name."""

    name: str
    cells: tuple[Cell, ...]
    room: range  # places that stay empty


@dataclass(frozen=True)
class Fleet:
    rows: tuple[RackRow, ...]
    count: int
    in_service: int
    health: dict[str, int]  # nodes by health
    not_in_order: tuple[Cell, ...]
    is_cut: bool


def fleet_of(user: User) -> Fleet:
    """The nodes that the user may see, by rack; three queries whatever their number."""
    gpus = Part.objects.filter(kind=PartKind.GPU, removed_at=None).order_by("slot")
    nodes = list(
        queries.nodes_for(user)
        .exclude(life_cycle=LifeCycle.RETIRED)
        .prefetch_related(Prefetch("parts", queryset=gpus, to_attr="gpus"))
        .order_by("cluster__name", "rack__name", "hostname")[: NODES_SHOWN + 1]
    )
    ill = _open_by_node(user)
    cells = [_cell(node, ill.get(node.pk, [])) for node in nodes[:NODES_SHOWN]]
    order = {"bad": 0, "warn": 1, "unknown": 2, "out": 3}
    return Fleet(
        tuple(_rack_rows(cells)),
        len(cells),
        sum(cell.node.life_cycle == LifeCycle.IN_SERVICE for cell in cells),
        Counter(cell.health for cell in cells),
        tuple(sorted((c for c in cells if c.health != "ok"), key=lambda c: (order[c.health], c.node.hostname))),
        len(nodes) > NODES_SHOWN,
    )


def _open_by_node(user: User) -> dict[int, list[Incident]]:
    firing = IncidentPart.objects.filter(firing=True)
    found = queries.incidents_for(user).filter(state__in=OPEN_STATES, node__isnull=False)
    by_node: dict[int, list[Incident]] = defaultdict(list)
    for incident in found.prefetch_related(Prefetch("parts", queryset=firing, to_attr="firing_parts")).order_by(
        "severity", "id"
    ):
        by_node[incident.node_id].append(incident)  # type: ignore[index]
    return by_node


def _cell(node: Node, ill: list[Incident]) -> Cell:
    health, why = health_of(node, ill)
    bad = {part.part_id for incident in ill for part in incident.firing_parts}  # type: ignore[attr-defined]
    whole = health if health in {"out", "unknown"} else "ok"
    mark = "bad" if health == "bad" else "warn"
    gpus = tuple(mark if gpu.pk in bad else whole for gpu in node.gpus)  # type: ignore[attr-defined]
    return Cell(node, health, why, gpus, ill[0] if ill else None)


def health_of(node: Node, ill: list[Incident]) -> tuple[str, str]:
    """ "bad", "warn", "out", "unknown" or "ok", and the reason in words. Sickbay only says "ok" of a node that it has examined."""
    if ill:
        lost = any(faults.get(incident.fault).takes_node_out for incident in ill)
        titles = dict.fromkeys(incident.fault for incident in ill)
        return ("bad" if lost else "warn"), ", ".join(titles)
    if node.life_cycle != LifeCycle.IN_SERVICE:
        return "out", node.get_life_cycle_display()
    if node.facts_at is None:
        return "unknown", _("never examined")
    return "ok", _("no open incident")


def _rack_rows(cells: Iterable[Cell]) -> Iterable[RackRow]:
    by_rack: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_rack[str(cell.node.rack or cell.node.cluster)].append(cell)
    for name, members in by_rack.items():
        for start in range(0, len(members), IN_A_ROW):
            some = tuple(members[start : start + IN_A_ROW])
            yield RackRow(name if start == 0 else "", some, range(IN_A_ROW - len(some)))


@login_required
@require_safe
def node_list(request: HttpRequest) -> HttpResponse:
    fleet = fleet_of(who(request))
    context = {
        "fleet": fleet,
        "now": timezone.now(),
        "clusters": sorted({c.node.cluster.name for r in fleet.rows for c in r.cells}),
    }
    return render(request, "incidents/node_list.html", context)


@dataclass(frozen=True)
class PartRow:
    part: Part
    health: str
    was: bool
    count: int  # incidents in the last 90 days that name this part


@login_required
@require_safe
def node(request: HttpRequest, pk: int) -> HttpResponse:
    return node_page(request, get_object_or_404(queries.nodes_for(who(request)), pk=pk))


def node_page(request: HttpRequest, row: Node, refusal: Refusal | None = None) -> HttpResponse:
    """The page of the node, with what was refused if something was."""
    now = timezone.now()
    seen = queries.incidents_for(who(request)).filter(node=row)
    still_open = rows_of(seen.filter(state__in=OPEN_STATES).order_by("severity", "-id")[:PAST_SHOWN], at=now)
    past = rows_of(seen.exclude(state__in=OPEN_STATES).order_by("-id")[:PAST_SHOWN], at=now)
    health, why = health_of(row, [one.incident for one in still_open])
    context = {
        "node": row,
        "now": now,
        "refusal": refusal,
        "page_path": reverse("node", args=[row.pk]),
        "health": health,
        "why": why,
        "kinds": _parts_by_kind(row, seen.filter(declared_at__gte=now - timedelta(days=DAYS))),
        "open_rows": still_open,
        "past_rows": past,
        "recent": seen.filter(declared_at__gte=now - timedelta(days=DAYS)).count(),
        "changes": row.life_cycle_changes.order_by("-at", "-id")[:PAST_SHOWN],
        "facts": _flat(row.facts),
        "may_run": may(who(request), "run.start", row),
        "may_open": may(who(request), "incident.open", row),
    }
    return render(request, "incidents/node.html", context, status=refusal.status if refusal else 200)


def _parts_by_kind(node: Node, recent: Iterable[Incident]) -> list[tuple[str, list[PartRow]]]:
    """The parts by kind, each slot with what was in it before; two queries."""
    named = IncidentPart.objects.filter(incident__in=recent, part__isnull=False)
    counts = Counter(named.values_list("part_id", flat=True))
    firing = set(named.filter(firing=True, incident__state__in=OPEN_STATES).values_list("part_id", flat=True))
    by_kind: dict[str, list[PartRow]] = defaultdict(list)
    for part in node.parts.order_by("kind", "slot", "removed_at"):
        health = "bad" if part.pk in firing else "ok"
        by_kind[part.get_kind_display()].append(PartRow(part, health, part.removed_at is not None, counts[part.pk]))
    for rows in by_kind.values():
        ill = {row.part.slot for row in rows if row.health == "bad"}
        rows.sort(key=lambda row, ill=ill: (row.part.slot not in ill, _natural(row.part.slot)))  # type: ignore[misc]
    # What fires first, then the GPUs: a node has more DIMMs than anybody wants to scroll past.
    return sorted(
        by_kind.items(), key=lambda item: (all(row.health != "bad" for row in item[1]), item[1][0].part.kind != "gpu")
    )


def _natural(slot: str) -> list[tuple[int, str]]:
    """Slot 2 before slot 10."""
    return [(int(piece), "") if piece.isdecimal() else (0, piece) for piece in re.split(r"(\d+)", slot)]


def _flat(facts: dict) -> list[tuple[str, str]]:
    """What DMI, /proc and NVML said, one line each; lists and nested values in short."""
    return [(name.replace("_", " "), _short(value)) for name, value in facts.items() if value not in (None, "", [], {})]


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_short(one) for one in value[:8]) + (" …" if len(value) > 8 else "")
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(one)}" for name, one in list(value.items())[:8])
    return str(value)
