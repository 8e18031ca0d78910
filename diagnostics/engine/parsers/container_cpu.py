"""How often a container ran into its CPU limit, as its cgroup counts it: cpu.stat.

nr_periods 180000
nr_throttled 150000
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_STAT = re.compile(r"(?:(?P<path>/\S*)cpu\.stat[:\s]+)?\bnr_(?P<name>periods|throttled)[\s:=]+(?P<value>\d+)$")


@dataclass(frozen=True, slots=True)
class Periods:
    """`line` is the one of the throttled ones."""

    container: str
    periods: float
    throttled: float
    line: EvidenceLine


def of_stat(text: str) -> Iterator[Periods]:
    """`nr_periods` stands before `nr_throttled` in every version of cpu.stat."""
    container, periods = "", 0.0
    for number, raw in enumerate(text.splitlines(), 1):
        match = _STAT.search(raw.strip())
        if match and match["name"] == "periods":
            container, periods = (match["path"] or "").rstrip("/").rpartition("/")[2], float(match["value"])
        elif match:
            yield Periods(container, periods, float(match["value"]), EvidenceLine(number, raw.strip()))
            container, periods = "", 0.0


TEXT_KINDS: TextKinds = (("cpu-stat", matches(r"(?m:\bnr_periods[ \t:=]+\d+[ \t\r]*$)")),)
