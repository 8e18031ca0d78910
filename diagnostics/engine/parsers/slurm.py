"""Nodes as Slurm shows them, with the reason why one is not used.

NodeName=gn-1 Arch=x86_64 ...                             scontrol show node, also -o
   State=DOWN+DRAIN ThreadsPerCore=2
   Reason=Not responding [slurm@2026-11-09T17:43:02]
REASON               USER      TIMESTAMP           NODELIST
Not responding       slurm     2026-11-09T17:43:02 gn-[1-2]     sinfo -R
REASON               NODELIST                                   sinfo -R --Format=reason,nodelist
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers import hosts
from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_BLOCK = re.compile(r"(?m:^[ \t]*NodeName=\S+ )")
_NODE = re.compile(r"NodeName=(?P<node>\S+)")
_STATE = re.compile(r"\bState=(?P<state>\S+)")
_REASON = re.compile(r"\bReason=(?P<reason>.+?)(?: \[(?P<who>[^\]@]*)@(?P<at>[^\]]*)\])?\s*$")
_COLUMNS = r"REASON +(?:USER\S* +TIMESTAMP +(?:STATE +)?)?NODELIST"
_HEADER = re.compile(_COLUMNS)
_SHORT_ROW = re.compile(r"(?P<reason>\S.*?) {2,}(?P<nodes>\S+)\s*$")
_ROW = re.compile(
    r"(?P<reason>\S.*?)\s+(?P<who>\w[\w.()-]*)\s+(?:\d{4}-\d\d-\d\dT[\d:]+|Unknown)\s+(?:[a-z][a-z*~#$@+-]*\s+)?(?P<nodes>\S+)\s*$"
)


@dataclass(frozen=True, slots=True)
class Reason:
    node: str
    reason: str
    line: EvidenceLine


def reasons(text: str) -> Iterator[Reason]:
    node, state, table = "", "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw[:2000].strip()
        if match := _NODE.search(line):
            node, state, table = match["node"], "", False
        if match := _STATE.search(line):
            state = match["state"]
        if node and (match := _REASON.search(line)):
            if re.search(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|\*", state):
                yield Reason(node, match["reason"], EvidenceLine(number, line))
        elif _HEADER.search(line):
            node, table = "", True
        elif table and (match := _ROW.match(line) or _SHORT_ROW.match(line)):
            for name in hosts.expanded(match["nodes"]) or [match["nodes"]]:
                yield Reason(name, match["reason"], EvidenceLine(number, line))
        elif table and not line:
            table = False


TEXT_KINDS: TextKinds = (
    ("slurm-nodes", matches(rf"(?m:^[ \t]*{_COLUMNS})")),
    ("slurm-nodes", lambda head: _BLOCK.search(head) is not None and "State=" in head),
)
