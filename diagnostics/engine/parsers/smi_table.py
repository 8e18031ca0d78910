"""The table of nvidia-smi, of drivers 418 to 595: each GPU has two rows, since 450 a third with its MIG mode.

|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   31C    P0             70W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds

_FIRST = re.compile(
    r"\|\s*(?P<index>\d{1,3})\s+(?P<name>\S.*?)\s*\|\s*(?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*[^|]*\|"
    r"\s*(?P<errors>[^|]*?)\s*\|"
)
_PERSISTENCE = re.compile(r"\s+(?P<mode>On|Off|N/A|ERR!)$")
_HEADING = re.compile(r"(?m:^[ \t]*\|[ \t]*NVIDIA-SMI[ \t]+\d)")


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    raw: str


@dataclass(frozen=True, slots=True)
class Board:
    """A GPU's rows. `errors` is the cell "Volatile Uncorr. ECC"; `readings` the row below, `modes` the one with its MIG mode."""

    index: str
    name: str
    persistence: str
    pci: str
    errors: str
    first: Row
    readings: Row
    modes: Row


NOTHING = Row(0, "")


def boards(text: str) -> list[Board]:
    return list(_boards(text))


def _boards(text: str) -> Iterator[Board]:
    lines = text.splitlines()
    for at, raw in enumerate(lines):
        match = _FIRST.match(raw.strip())
        if not match:
            continue
        rows = [NOTHING, NOTHING]
        for place, below in enumerate(lines[at + 1 : at + 3]):
            if not below.strip().startswith("|"):
                break
            rows[place] = Row(at + 2 + place, below.strip())
        name = _PERSISTENCE.sub("", match["name"])
        mode = _PERSISTENCE.search(match["name"])
        yield Board(
            match["index"],
            name,
            mode["mode"] if mode else "",
            match["pci"],
            match["errors"],
            Row(at + 1, raw.strip()),
            *rows,
        )


def without_mig_devices(text: str) -> Row | None:
    """The row that says so; printed where MIG is on and no instance was made."""
    return next(
        (Row(n, raw.strip()) for n, raw in enumerate(text.splitlines(), 1) if "No MIG devices found" in raw), None
    )


def _is_table(head: str) -> bool:
    """A log in which the table stands at the start is a log: its rows are found there by signatures."""
    if not _HEADING.search(head):
        return False
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    return sum(line.startswith(("|", "+")) for line in lines) * 2 > len(lines)


TEXT_KINDS: TextKinds = (("nvidia-smi-table", _is_table),)
