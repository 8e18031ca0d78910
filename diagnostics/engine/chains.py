"""What follows from something else is folded under it (catalog/chains.toml)."""

from collections import defaultdict
from collections.abc import Sequence

from diagnostics.engine import catalog, components
from diagnostics.engine.catalog import Chain
from diagnostics.engine.groups import Group, Kin
from diagnostics.engine.types import Observation


def fold(groups: Sequence[Group]) -> None:
    """Sets parent and children. `groups` in the order of their first sign."""
    of_kin: dict[Kin, list[tuple[int, Group]]] = defaultdict(list)
    for place, group in enumerate(groups):
        of_kin[group.fault, group.node].append((place, group))
    for chain in catalog.chains():
        for root in groups:
            if root.fault in chain.roots and root.is_root:
                others = sorted(item for fault in chain.folds for item in of_kin.get((fault, root.node), ()))
                followers = [other for _place, other in others if _follows(other, root, chain)]
                if len(followers) >= chain.least:
                    _put_under(root, followers)


def _put_under(root: Group, followers: Sequence[Group]) -> None:
    for other in followers:
        if root.top is not other:  # one of them may have been put above it meanwhile
            other.parent = root
            root.children.append(other)


def descendants(group: Group) -> list[Group]:
    found = [one for child in group.children for one in (child, *descendants(child))]
    return sorted(found, key=lambda one: one.order)


def _follows(other: Group, root: Group, chain: Chain) -> bool:
    if other is root or other.parent or other.fault not in chain.folds or root.top is other:
        return False
    if other.fault == root.fault and not other.is_consequence and other.order <= root.order:
        return False
    if other.node != root.node or (
        chain.scope == "component" and not components.related(other.component, root.component)
    ):
        return False
    return _in_time(other, root, chain)


def _in_time(other: Group, root: Group, chain: Chain) -> bool:
    """True too where the two have no clock in common: then only the order of their source speaks, and it is loose."""
    distances = [d for o in _ends(other) for r in _ends(root) if (d := _distance(o, r)) is not None]
    if chain.before_s == 0 and not any(distances) and _is_printed_before(other, root):
        return False
    if not distances:
        return chain.across_boots or None in (other.boot, root.boot) or other.boot == root.boot
    return any(-chain.before_s <= distance <= chain.window_s for distance in distances)


def _is_printed_before(one: Group, other: Group) -> bool:
    return one.seen[0].source_name == other.seen[0].source_name and one.order < other.order


def _ends(group: Group) -> tuple[Observation, ...]:
    return (group.seen[0], group.seen[-1])


def _distance(later: Observation, earlier: Observation) -> float | None:
    one, other = later.moment, earlier.moment
    if one.at and other.at and one.has_year == other.has_year:
        return (one.at - other.at).total_seconds()
    if one.uptime_s is not None and other.uptime_s is not None and later.boot == earlier.boot:
        return one.uptime_s - other.uptime_s
    return None
