"""A list of parts compared with how it should be: diff -u of lspci, nvidia-smi -L, ibv_devices ...

--- expected/lspci.txt
+++ seen/lspci.txt
-9b:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7]
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_SEEN = re.compile(r"(?i)\b(?:seen|actual|current|now|found|after|running|live|today)")
_EXPECTED = re.compile(r"(?i)\b(?:expect|golden|baseline|inventory|before|want|profile|reference)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Gone:
    """A line of the list that should be there and is not."""

    text: str
    line: EvidenceLine


def gone(text: str) -> list[Gone]:
    """What moved within the list, or was only spaced otherwise, is not gone."""
    rows = list(enumerate(text.splitlines(), 1))
    here, there = ("+", "-") if _is_reversed(text) else ("-", "+")
    kept = {_SPACES.sub(" ", raw[1:]).strip() for _, raw in rows if raw.startswith(there)}
    return [
        Gone(words, EvidenceLine(number, raw.strip()))
        for number, raw in rows
        if raw.startswith(here)
        and not raw.startswith(here * 3)
        and (words := _SPACES.sub(" ", raw[1:]).strip())
        and words not in kept
    ]


def _is_reversed(text: str) -> bool:
    """True if the first file is what was seen."""
    first = re.search(r"(?m)^--- (.*)$", text)
    second = re.search(r"(?m)^\+\+\+ (.*)$", text)
    if not first or not second:
        return False
    return bool(_SEEN.search(first[1]) or _EXPECTED.search(second[1])) and not _EXPECTED.search(first[1])


_is_diff = matches(r"(?m:^--- \S.*\r?\n\+\+\+ \S.*\r?\n@@ -\d+(?:,\d+)? \+\d+)")


def _is_inventory(head: str) -> bool:
    """A change of a program's text is none."""
    return "diff --git " not in head and _is_diff(head)


TEXT_KINDS: TextKinds = (("inventory-diff", _is_inventory),)
