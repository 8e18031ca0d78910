"""The time sources of chronyc sources and ntpq -p, each with its mark: which one is selected.

^* ntp1.example.test   2   6   377    33   -12us[ -15us] +/-  340us        chronyc sources
*ntp1.example.t  .GPS.  1 u   33   64  377    0.210   -0.012   0.034       ntpq -p
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CHRONY = re.compile(r"^[\^=#](?P<mark>[*+\-?x~ ])\s+(?P<name>\S+)\s+\d+\s+-?\d+\s+(?P<reach>\d+)\s")
_NTPQ_TITLE = re.compile(r"^\s+remote\s+refid\s+st t when")
_NTPQ = re.compile(r"^(?P<mark>[ *+\-#xo.])(?P<name>\S+)\s+\S+\s+\d+\s+[ulbmspBA-]\s+\S+\s+\d+\s+(?P<reach>[0-7]+)\s")


@dataclass(frozen=True, slots=True)
class Source:
    name: str
    is_selected: bool
    is_reached: bool
    number: int
    raw: str


def sources(text: str) -> Iterator[Source]:
    in_ntpq = False
    for number, raw in enumerate(text.splitlines(), 1):
        in_ntpq = in_ntpq or bool(_NTPQ_TITLE.match(raw))
        match = _CHRONY.match(raw) or (_NTPQ.match(raw) if in_ntpq else None)
        if match:
            reached = bool(match["reach"].strip("0"))
            yield Source(match["name"], match["mark"] in "*o", reached, number, raw.strip())
