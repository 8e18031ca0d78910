"""What hit many nodes of one input at once is told of what they share, not of each of them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from diagnostics.engine import catalog
from diagnostics.engine.catalog import Together
from diagnostics.engine.groups import Group
from diagnostics.engine.types import Observation

# gpu-r4-07-bmc, r04n12, rack3-node7: where names of nodes tell their rack
_RACK = re.compile(r"(?i)(?:^|[-_.])(?P<rack>r(?:ack)?-?\d{1,4})(?=[-_.n])")


def shared(groups: Sequence[Group]) -> list[Group]:
    """The groups, and one more for each trouble that many of them share; those follow from it."""
    found = list(groups)
    for rule in catalog.together():
        hit = [
            group for group in groups if group.parent is None and group.is_root and group.node and _fits(group, rule)
        ]
        nodes = {group.node for group in hit}
        if len(nodes) >= rule.nodes and _are_close(hit, rule.window_s):
            root = Group([_root(hit, rule)])
            for group in hit:
                group.parent = root
                root.children.append(group)
            found.append(root)
    return found


def _fits(group: Group, rule: Together) -> bool:
    return group.fault in rule.faults and any(rule.pattern.search(seen.line.text) for seen in group.seen)


def _are_close(hit: Sequence[Group], window_s: float) -> bool:
    """True too where nothing has a time: then they were gathered together."""
    times = [group.seen[0].moment.at for group in hit if group.seen[0].moment.at]
    return not times or (max(times) - min(times)).total_seconds() <= window_s


def _root(hit: Sequence[Group], rule: Together) -> Observation:
    first = hit[0].seen[0]
    racks = {match["rack"] for group in hit if (match := _RACK.search(group.node or ""))}
    rack = re.sub(r"\D", "", next(iter(racks))) if len(racks) == 1 else ""
    return replace(
        first, fault=rule.becomes, role="root", node=None, component=f"rack R{rack}" if rack else None, severity=None,
        detail=f"{len({group.node for group in hit})} nodes at once", count=1,
    )  # fmt: skip
