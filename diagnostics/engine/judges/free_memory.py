"""Memory that is nearly used up, as free shows it."""

import re

from diagnostics.engine import catalog
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_TITLE = re.compile(r"^\s+total\s+used\s+free\s+shared\s+buff/cache\s+available")
_ROW = re.compile(
    r"^Mem:\s+(?P<total>[\d.]+)(?P<total_unit>[KMGT]?)i?B?\s+(?:\S+\s+){4}(?P<left>[\d.]+)(?P<left_unit>[KMGT]?)i?B?\s*$"
)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def nearly_none(log: Log, *, source_name: str) -> list[Observation]:
    found, titled = [], False
    for number, raw in enumerate(log.text.splitlines(), 1):
        titled = titled or bool(_TITLE.match(raw))
        match = _ROW.match(raw) if titled else None
        if not match:
            continue
        total = float(match["total"]) * _UNITS[match["total_unit"]]
        left = float(match["left"]) * _UNITS[match["left_unit"]]
        if total and left < total * catalog.thresholds()["memory"]["available_share_low"]:
            found.append(
                Observation(
                    "os.oom_kill", EvidenceLine(number, raw.strip()), source_name, confidence="low", order=number,
                    detail=f"{left / total:.1%} of the memory is left",
                )
            )  # fmt: skip
    return found
