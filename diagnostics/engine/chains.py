"""Many signs, few findings: what was said again is counted, what follows from something else is folded under it."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from diagnostics.engine import catalog
from diagnostics.engine.catalog import Chain
from diagnostics.engine.judges import components
from diagnostics.engine.types import Confidence, EvidenceLine, Finding, Observation
from incidents.domain import faults

MOST_LINES = 20  # of one finding; the first and the last are kept
MOST_PARTS = 128  # of one fault on one node, more than any node has; what goes beyond is counted with its neighbour
Kin = tuple[str, str | None]  # fault and node
_CONFIDENCE: tuple[Confidence, ...] = ("low", "medium", "high")


@dataclass(eq=False, slots=True)
class Group:
    """All signs of one fault at one part of one node."""

    seen: list[Observation]
    parent: "Group | None" = None
    children: list["Group"] = field(default_factory=list)

    @property
    def fault(self) -> str:
        return self.seen[0].fault

    @property
    def node(self) -> str | None:
        return self.seen[0].node

    @property
    def component(self) -> str | None:
        return next((seen.component for seen in self.seen if seen.component), None)

    @property
    def is_root(self) -> bool:
        return any(seen.role == "root" for seen in self.seen)

    @property
    def is_consequence(self) -> bool:
        return not self.is_root and any(seen.role == "consequence" for seen in self.seen)

    @property
    def top(self) -> "Group":
        return self.parent.top if self.parent else self


def findings(observations: Sequence[Observation]) -> tuple[Finding, ...]:
    """Roots first, the worst first; then notes."""
    groups = _grouped(_with_node(observations))
    _fold(groups)
    made = [_finding(group) for group in groups if group.parent is None]
    return tuple(sorted(made, key=lambda finding: (not finding.root, finding.severity)))


def _with_node(observations: Sequence[Observation]) -> list[Observation]:
    """A line that names no host belongs to the only host that is named."""
    hosts = {seen.node for seen in observations if seen.node}
    if len(hosts) != 1:
        return list(observations)
    (host,) = hosts
    return [seen if seen.node else replace(seen, node=host) for seen in observations]


def _grouped(observations: Iterable[Observation]) -> list[Group]:
    groups: dict[Kin, dict[str | None, Group]] = defaultdict(dict)
    nameless: list[Observation] = []
    for seen in observations:
        family = groups[seen.fault, seen.node]
        if seen.component is None or (len(family) >= MOST_PARTS and seen.component not in family):
            nameless.append(seen)
        else:
            family.setdefault(seen.component, Group([])).seen.append(seen)
    _join(groups, nameless)
    every = [group for family in groups.values() for group in family.values()]
    for group in every:
        group.seen.sort(key=lambda seen: (seen.source_name, seen.order))
    return sorted(every, key=_order)


def _join(groups: dict[Kin, dict[str | None, Group]], nameless: Iterable[Observation]) -> None:
    """A sign without a part joins the part of the same fault that was last named before it."""
    named = {kin: sorted(family.values(), key=lambda group: group.seen[0].order) for kin, family in groups.items()}
    begins = {kin: [group.seen[0].order for group in family] for kin, family in named.items()}
    for seen in nameless:
        kin = (seen.fault, seen.node)
        if named[kin]:
            place = bisect_right(begins[kin], seen.order)
            named[kin][max(place - 1, 0)].seen.append(seen)
        else:
            groups[kin].setdefault(None, Group([])).seen.append(seen)


def _fold(groups: Sequence[Group]) -> None:
    of_kin: dict[Kin, list[tuple[int, Group]]] = defaultdict(list)
    for place, group in enumerate(groups):
        of_kin[group.fault, group.node].append((place, group))
    for chain in catalog.chains():
        for root in groups:
            if root.fault in chain.roots and root.is_root:
                others = sorted(item for fault in chain.folds for item in of_kin.get((fault, root.node), ()))
                for _place, other in others:
                    if _follows(other, root, chain):
                        other.parent = root
                        root.children.append(other)


def _follows(other: Group, root: Group, chain: Chain) -> bool:
    if other is root or other.parent or other.fault not in chain.folds or root.top is other:
        return False
    if other.fault == root.fault and not other.is_consequence and _order(other) <= _order(root):
        return False
    if other.node != root.node or (
        chain.scope == "component" and not components.related(other.component, root.component)
    ):
        return False
    return _in_time(other, root, chain)


def _order(group: Group) -> tuple[str, int]:
    return group.seen[0].source_name, group.seen[0].order


def _in_time(other: Group, root: Group, chain: Chain) -> bool:
    """True too where the two have no clock in common: then only the order of their source speaks, and it is loose."""
    distances = [d for o in _ends(other) for r in _ends(root) if (d := _distance(o, r)) is not None]
    if chain.before_s == 0 and not any(distances) and _is_printed_before(other, root):
        return False
    return not distances or any(-chain.before_s <= distance <= chain.window_s for distance in distances)


def _is_printed_before(one: Group, other: Group) -> bool:
    return one.seen[0].source_name == other.seen[0].source_name and _order(one) < _order(other)


def _ends(group: Group) -> tuple[Observation, ...]:
    return (group.seen[0], group.seen[-1])


def _distance(later: Observation, earlier: Observation) -> float | None:
    one, other = later.moment, earlier.moment
    if one.at and other.at and one.has_year == other.has_year:
        return (one.at - other.at).total_seconds()
    if one.uptime_s is not None and other.uptime_s is not None and later.boot == earlier.boot:
        return one.uptime_s - other.uptime_s
    return None


def _finding(group: Group) -> Finding:
    fault = faults.get(group.fault)
    proof = next((seen for seen in group.seen if seen.role == "root"), group.seen[0])
    followers = _descendants(group)
    times = [seen.moment.at for seen in group.seen if seen.moment.at and seen.moment.has_year]
    return Finding(
        fault=fault.code,
        root=group.is_root and group.parent is None,
        severity=proof.severity or fault.severity,
        component=group.component,
        rank=None,
        ranks=(),
        node=group.node,
        title=fault.title,
        line=proof.line.text,
        line_number=proof.line.number,
        evidence=_evidence(group.seen),
        confidence=max((seen.confidence for seen in group.seen), key=_CONFIDENCE.index),
        consequences=tuple(_finding(child) for child in followers) if group.parent is None else (),
        action=_action(proof, fault.first_action, followers),
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        count=_count(group.seen),
        source_name=proof.source_name,
        detail=proof.detail,
        authorities={name: said for seen in reversed(group.seen) for name, said in seen.authorities.items()},
    )


def _count(seen: Sequence[Observation]) -> int:
    """How often it happened: one event may print two kinds of lines, so the commoner kind is counted."""
    counts: Counter[str] = Counter()
    for one in seen:
        counts[one.signature] += one.count
    return max(counts.values())


def _descendants(group: Group) -> list[Group]:
    found = [one for child in group.children for one in (child, *_descendants(child))]
    return sorted(found, key=_order)


def _action(proof: Observation, first_action: str, followers: Sequence[Group]) -> str:
    """The driver's own recommendation comes before our table: it knows the board."""
    advice = proof.action or next(
        (seen.action for group in followers for seen in reversed(group.seen) if seen.action), None
    )
    return f"{advice}; {first_action}" if advice else first_action


def _evidence(seen: Sequence[Observation]) -> tuple[EvidenceLine, ...]:
    lines = list(dict.fromkeys(one.line for one in seen))
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    return tuple(lines[: MOST_LINES // 2] + lines[-MOST_LINES // 2 :])
