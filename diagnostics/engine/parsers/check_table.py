"""The table of a script that checks nodes: what it expected and what it found, as CSV.

node,check,expected,actual,status,time
gpu-n02,gpu_count_pci,8,7,FAIL,2026-11-30T08:00:02Z
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds
from diagnostics.engine.types import EvidenceLine

_COLUMNS = {
    "node": ("node", "host", "hostname", "nodename", "server"),
    "check": ("check", "test", "name", "item", "metric"),
    "expected": ("expected", "want", "required", "target"),
    "found": ("actual", "found", "got", "observed", "value", "current"),
    "status": ("status", "result", "state", "verdict"),
}
_SEPARATOR = re.compile(r"[,;\t]")


@dataclass(frozen=True, slots=True)
class Row:
    node: str
    check: str
    expected: str
    found: str
    status: str
    line: EvidenceLine


def rows(text: str) -> Iterator[Row]:
    places: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        cells = [cell.strip().strip('"') for cell in _SEPARATOR.split(raw)]
        if heads := _places(cells):
            places = heads
        elif places and len(cells) > max(places.values()):
            told = {name: cells[at] for name, at in places.items()}
            yield Row(
                told.get("node", ""), told["check"], told["expected"], told["found"], told.get("status", ""),
                EvidenceLine(number, raw.strip()),
            )  # fmt: skip


def _places(cells: list[str]) -> dict[str, int]:
    lower = [cell.lower() for cell in cells]
    found = {name: lower.index(word) for name, words in _COLUMNS.items() for word in words[::-1] if word in lower}
    return found if {"check", "expected", "found"} <= found.keys() else {}


def _is_table(head: str) -> bool:
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    return bool(_places([cell.strip().strip('"') for cell in _SEPARATOR.split(first)]))


TEXT_KINDS: TextKinds = (("check-table", _is_table),)
