"""The facts about fabric tools: counters, reasons of a link that is down, rates of adapters. Read once."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.types import Role


@dataclass(frozen=True, slots=True)
class CounterLimit:
    """`note`, `root`: totals; `rise`: between two prints of one text. None: never."""

    fault: str
    note: int
    root: int | None
    rise: int | None


@dataclass(frozen=True, slots=True)
class Reason:
    words: tuple[str, ...]
    fault: str
    active: str
    role: Role


@dataclass(frozen=True, slots=True)
class LinkWords:
    words: tuple[str, ...]
    probe: re.Pattern[str]
    stop: re.Pattern[str]
    down: tuple[re.Pattern[str], ...]
    up: tuple[re.Pattern[str], ...]
    flap_at: int
    boot_s: float
    bounce_s: float
    ups_at: int
    ups_s: float
    stop_s: float


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    return catalog.table("fabric.toml")


@lru_cache(maxsize=1)
def counter_limits() -> dict[str, CounterLimit]:
    return {
        name: CounterLimit(row["fault"], row["note"], row.get("root"), row.get("rise"))
        for row in table()["counter"]
        for name in row["names"]
    }


@lru_cache(maxsize=1)
def _reasons() -> tuple[Reason, ...]:
    return tuple(
        Reason(tuple(row["words"]), row["fault"], row.get("active", ""), row.get("role", "root"))
        for row in table()["reason"]
    )


def reason(text: str) -> Reason | None:
    """What the words of a tool about a port mean; None for words that nobody knows."""
    lower = text.lower()
    return next((one for one in _reasons() if any(word in lower for word in one.words)), None)


@lru_cache(maxsize=1)
def link_words() -> LinkWords:
    row = table()["link"]
    down, up = (tuple(re.compile(pattern) for pattern in row[key]) for key in ("down", "up"))
    return LinkWords(
        tuple(row["words"]), re.compile(row["probe"]), re.compile(row["stop"]), down, up, row["flap_at"],
        float(row["boot_s"]), float(row["bounce_s"]), row["ups_at"], float(row["ups_s"]), float(row["stop_s"]),
    )  # fmt: skip
