"""Signs that tell of one thing, put together: one fault at one part of one node in one boot."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from diagnostics.engine.types import Observation

MOST_PARTS = 128  # of one fault on one node, more than any node has; what goes beyond is counted with its neighbour
Kin = tuple[str, str | None]  # fault and node
Place = tuple[str | None, str | None]  # part and boot


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
    def boot(self) -> str | None:
        return self.seen[0].boot

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

    @property
    def order(self) -> tuple[str, int]:
        return self.seen[0].source_name, self.seen[0].order


def grouped(observations: Iterable[Observation]) -> list[Group]:
    """In the order in which their first sign was printed."""
    groups: dict[Kin, dict[Place, Group]] = defaultdict(dict)
    nameless: list[Observation] = []
    for seen in observations:
        family = groups[seen.fault, seen.node]
        place = (seen.component, seen.boot)
        if seen.component is None or (len(family) >= MOST_PARTS and place not in family):
            nameless.append(seen)
        else:
            family.setdefault(place, Group([])).seen.append(seen)
    _join(groups, nameless)
    every = [group for family in groups.values() for group in family.values()]
    for group in every:
        group.seen.sort(key=lambda seen: (seen.source_name, seen.order))
    return sorted(every, key=lambda group: group.order)


def _join(groups: dict[Kin, dict[Place, Group]], nameless: Iterable[Observation]) -> None:
    """A sign without a part joins the part of the same fault that was last named before it, in its boot if there is one."""
    named = {kin: sorted(family.values(), key=lambda group: group.seen[0].order) for kin, family in groups.items()}
    for seen in nameless:
        kin = (seen.fault, seen.node)
        family = [group for group in named[kin] if seen.boot in (None, group.boot)] or named[kin]
        if family:
            place = bisect_right([group.seen[0].order for group in family], seen.order)
            family[max(place - 1, 0)].seen.append(seen)
        else:
            groups[kin].setdefault((None, seen.boot), Group([])).seen.append(seen)


def merged(groups: Sequence[Group]) -> list[Group]:
    """What was told apart by its boot and is still the same fault at the same part after folding: one finding, counted."""
    found: dict[tuple[str, str | None, str | None], Group] = {}
    for group in groups:
        first = found.setdefault((group.fault, group.node, group.component), group)
        if first is not group:
            first.seen.extend(group.seen)
            for child in group.children:
                child.parent = first
            first.children.extend(group.children)
    return list(found.values())


def with_node(observations: Sequence[Observation]) -> list[Observation]:
    """A line that names no host belongs to the only host that is named."""
    hosts = {seen.node for seen in observations if seen.node}
    if len(hosts) != 1:
        return list(observations)
    (host,) = hosts
    return [seen if seen.node else replace(seen, node=host) for seen in observations]
