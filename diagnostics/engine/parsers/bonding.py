"""/proc/net/bonding/IF: a bond and its member interfaces.

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up                                               of the bond
Slave Interface: ens1f0np0                                   also "Port Interface", "Member Interface"
MII Status: down                                             of that member
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_MEMBER = re.compile(r"(?:Slave|Port|Member) Interface: (?P<name>\S+)$")
_STATUS = re.compile(r"MII Status: (?P<status>\w.*)$")


@dataclass(frozen=True, slots=True)
class Member:
    """`status`: up, down, going down, going back."""

    name: str
    status: str
    line: EvidenceLine


def members(text: str) -> list[Member]:
    found = []
    name = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("Bonding Mode:"):
            name = ""
        elif match := _MEMBER.search(line):
            name = match["name"]
        elif name and (match := _STATUS.search(line)):
            found.append(Member(name, match["status"], EvidenceLine(number, line)))
            name = ""
    return found


TEXT_KINDS: TextKinds = (("bonding", matches(r"(?m:^.{0,60}\b(?:Slave|Port|Member) Interface: \S+[ \t\r]*$)")),)
