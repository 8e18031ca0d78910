"""The facts about words of container tools. Read once."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.types import Role


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    return catalog.table("containers.toml")


def status(word: str) -> tuple[str, Role] | None:
    """The fault that a status word (`Init:ImagePullBackOff`) names; None for words of well containers."""
    name = word.strip().removeprefix("Init:")
    if fault := table()["status"].get(name):
        return str(fault), "root"
    if fault := table()["status_notes"].get(name):
        return str(fault), "note"
    return None


def withheld(capacity: Mapping[str, Any], allocatable: Mapping[str, Any]) -> list[str]:
    """The accelerators of a node of which fewer can be given out than there are."""
    return [
        key
        for key, value in capacity.items()
        if _accelerator().match(key)
        and str(value).isdigit()
        and str(allocatable.get(key, "")).isdigit()
        and int(allocatable[key]) < int(value)
    ]


@lru_cache(maxsize=1)
def _accelerator() -> re.Pattern[str]:
    return re.compile(table()["accelerators"])


def condition(kind: str, value: str) -> str | None:
    """The fault of a node's condition; None if it is well or not known."""
    word = value.strip().lower()
    if word == "unknown" and kind == "Ready":
        return "host.unreachable"
    key = {"true": "condition_true", "false": "condition_false"}.get(word)
    fault = table()[key].get(kind) if key else None
    return str(fault) if fault else None
