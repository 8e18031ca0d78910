"""nvidia-imex-ctl -N, as text and as JSON (-j).

Node #0   * 192.0.2.8 *    - READY                - Version: 570.133.20
 Nodes From\\To  0   1
       0        C   !M!
Domain State: DEGRADED
{"nodes": {"0": {"status": "READY", "host": "192.0.2.8", "connections": {"1": {"status": "CONNECTED"}}}}, "status": "UP"}
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches

_NODE = re.compile(r"\s*Node #(?P<index>\d+)\s*[-*]\s*(?P<host>\S+?)\s*\*?\s*-\s*(?P<state>[A-Z_]+)\b")
_DOMAIN = re.compile(r"\s*Domain State:\s*(?P<state>[A-Z_]+)")


@dataclass(frozen=True, slots=True)
class State:
    """`what` is domain, node or connection; `name` the member that it is of."""

    what: str
    name: str
    state: str
    number: int
    raw: str


_HEAD = re.compile(r"\s*Nodes From.To((?:\s+\d+)+)\s*$")
_CONNECTIONS = re.compile(r"\s*(?P<index>\d+)(?P<states>(?:\s+(?:[CNRDI]|![VM]!))+)\s*$")
_REFUSED = {"!M!": "NODE_MAP_MISMATCH", "!V!": "VERSION_MISMATCH", "D": "DISCONNECTED"}


def states(text: str) -> Iterator[State]:
    yield from _members(text)
    yield from _refused(text)


def _refused(text: str) -> Iterator[State]:
    """The member that most of the others refuse, or that refuses them: it is the one that is set up otherwise."""
    rows: dict[str, tuple[list[str], int, str]] = {}
    in_table = False
    for number, raw in enumerate(text.splitlines(), 1):
        if _HEAD.match(raw):
            in_table, rows = True, {}
        elif in_table and (match := _CONNECTIONS.match(raw)):
            rows[match["index"]] = ([word for word in match["states"].split() if word in _REFUSED], number, raw.strip())
    most = max((len(refused) for refused, _, _ in rows.values()), default=0)
    worst = [index for index, (refused, _, _) in rows.items() if most and len(refused) == most]
    names = {one.name.split()[1]: one.name for one in _members(text) if one.what == "node"}
    if len(worst) == 1:
        refused, number, raw = rows[worst[0]]
        yield State("node", names.get(worst[0], f"node {worst[0]}"), _REFUSED[refused[0]], number, raw)


def _members(text: str) -> Iterator[State]:
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _DOMAIN.match(raw):
            yield State("domain", "", match["state"], number, raw.strip())
        elif match := _NODE.match(raw):
            yield State("node", f"node {match['index']} ({match['host']})", match["state"], number, raw.strip())


def states_of(document: Any) -> Iterator[State]:
    yield State("domain", "", str(document.get("status", "")), 0, "")
    nodes = document["nodes"]
    pairs = nodes.items() if isinstance(nodes, dict) else enumerate(nodes)
    for index, node in pairs:
        yield State("node", f"node {index} ({node.get('host', '')})", str(node.get("status", "")), 0, "")


def _is_document(value: Any) -> bool:
    if not isinstance(value, dict) or "status" not in value or not value.get("nodes"):
        return False
    nodes = value["nodes"]
    first = (
        next(iter(nodes.values()), None) if isinstance(nodes, dict) else nodes[0] if isinstance(nodes, list) else None
    )
    return isinstance(first, dict) and "status" in first and ("connections" in first or "host" in first)


TEXT_KINDS: TextKinds = (("imex", matches(r"(?m:^Node #\d+\s+[-*] |^Domain State: [A-Z])")),)
JSON_KINDS: JsonKinds = (("imex-json", _is_document),)
