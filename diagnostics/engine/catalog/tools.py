"""How the tools of a server print what is wrong: tools.toml, read once and checked when read."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.types import Confidence, Role
from incidents.domain import faults


@dataclass(frozen=True, slots=True)
class Rule:
    """A line that matches means the fault. `value` is a group of the pattern; see tools.toml for what it is compared with."""

    pattern: re.Pattern[str]
    fault: str
    role: Role
    confidence: Confidence
    at_least: float | None
    below: re.Pattern[str] | None
    reaches: re.Pattern[str] | None
    after: re.Pattern[str] | None
    detail: str


@dataclass(frozen=True, slots=True)
class Tool:
    """What one tool prints. `subjects` are lines that name the part of the lines after them, the strongest name first."""

    kind: str
    name: str
    families: tuple[str, ...]
    looks_like: re.Pattern[str]
    subjects: tuple[re.Pattern[str], ...]
    subject_form: str
    gaps: tuple[re.Pattern[str], ...]
    rules: tuple[Rule, ...]
    healthy: tuple[str, ...]
    sick: tuple[tuple[str, str], ...]


@lru_cache(maxsize=1)
def tools() -> tuple[Tool, ...]:
    return tuple(_tool(row) for row in catalog.table("tools.toml")["tool"])


def _tool(row: dict[str, Any]) -> Tool:
    return Tool(
        row["kind"], row["name"], tuple(row["families"]), re.compile(row["looks_like"], re.MULTILINE),
        tuple(re.compile(one) for one in row.get("subjects", ())), row.get("subject_form", "{}"),
        tuple(re.compile(one) for one in row.get("gaps", ())), tuple(_rule(one) for one in row.get("rule", ())),
        tuple(row["healthy"]), tuple((fault, text) for fault, text in row.get("sick", ())),
    )  # fmt: skip


def _rule(row: dict[str, Any]) -> Rule:
    faults.get(row["fault"])
    below, reaches, after = (re.compile(row[key]) if key in row else None for key in ("below", "reaches", "after"))
    return Rule(
        re.compile(row["pattern"]), row["fault"], row.get("role", "root"), row.get("confidence", "high"), row.get("at_least"),
        below, reaches, after, row.get("detail", ""),
    )  # fmt: skip
