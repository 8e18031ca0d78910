"""The table that `dcgmi diag` prints: cells are wrapped in the middle of words over several lines.

| Error                     | GPU 3 has uncorrectable memory errors and row  |
|                           |  remappings are pending                        |
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches

_ROW = re.compile(r"\|(?P<name>[^|]{10,40})\|(?P<cell>[^|]*)\|?\s*$")


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of the table, its text joined; `number` and `raw` are those of the line where it starts."""

    name: str
    text: str
    number: int
    raw: str


def cells(text: str) -> list[Cell]:
    found: list[Cell] = []
    for number, raw in enumerate(text.splitlines(), 1):
        match = _ROW.match(raw.strip())
        if not match:
            continue
        name, cell = match["name"].strip(), match["cell"][1:]
        starts_anew = name or re.match(r"\s*(?:Pass|Fail|Skip|Warn)\b", cell)
        if starts_anew or not found:
            found.append(Cell(name or (found[-1].name if found else ""), cell, number, raw.strip()))
        else:
            last = found[-1]
            found[-1] = Cell(last.name, _joined(last.text, cell), last.number, last.raw)
    return found


def _joined(first: str, second: str) -> str:
    """The printer pads each line with two blanks; a third is the text's own, none means that a word was cut."""
    return first.removesuffix("  ") + second


TEXT_KINDS: TextKinds = (
    ("dcgm-diag", matches(r"(?m:^\| Diagnostic +\||^\|-+  \w+  -+\+-|^\| [A-Z][\w ]+ \| (?:Pass|Fail|Skip)\b)")),
)
