"""The GIDs of RoCE adapters, and the tools of verbs that look for one.

DEV     PORT  INDEX  GID                                      IPv4        VER  DEV          show_gids
mlx5_0  1     3      0000:0000:0000:0000:0000:ffff:0a31:0201  10.49.2.1   v2   ens1np0
$ ibv_rc_pingpong -d mlx5_2 -g 3 10.49.3.1 / can't read sgid of index 3
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_ROW = re.compile(
    r"(?P<adapter>\w{2,40})\s+(?P<port>\d+)\s+(?P<index>\d+)\s+(?P<gid>(?:[0-9a-f]{4}:){7}[0-9a-f]{4})\b"
    r"(?:\s+\d+\.\d+\.\d+\.\d+)?\s+v[12]\s+(?P<netdev>[\w.\-]+)"
)
_COMMAND = re.compile(r"\b(?:ib_\w+|ibv_\w+pingpong|rping|udaddy)\s.*?(?:-d|--ib-dev)[ =](?P<adapter>[\w.\-]+)")
_NO_GID = re.compile(r"can't read sgid of index|[Cc]ouldn't (?:get|read) .{0,30}\bGID\b|Failed to modify QP \d+ to RTR")
_OWN = "fe80:"  # made from the hardware's address: every port has it, whatever was set up


@dataclass(frozen=True, slots=True)
class Gid:
    """`routed`: made from an address that somebody gave the interface."""

    adapter: str
    routed: bool
    line: EvidenceLine


@dataclass(frozen=True, slots=True)
class Refusal:
    """A tool that did not find the GID it was to use; the adapter is empty if its command is not shown."""

    adapter: str
    line: EvidenceLine


def table(text: str) -> list[Gid]:
    rows = ((number, raw.strip(), _ROW.search(raw)) for number, raw in enumerate(text.splitlines(), 1))
    return [
        Gid(match["adapter"], not match["gid"].startswith(_OWN), EvidenceLine(number, raw))
        for number, raw, match in rows
        if match
    ]


def refusals(text: str) -> list[Refusal]:
    found = []
    adapter = ""
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _COMMAND.search(raw):
            adapter = match["adapter"]
        elif _NO_GID.search(raw):
            found.append(Refusal(adapter, EvidenceLine(number, raw.strip())))
    return found


TEXT_KINDS: TextKinds = (("fabric-tool", matches(_NO_GID.pattern)),)
