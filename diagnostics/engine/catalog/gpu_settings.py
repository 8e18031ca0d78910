"""What the settings of a GPU mean, as nvidia-smi prints them: gpu_settings.toml."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.types import Role
from incidents.domain import faults


@dataclass(frozen=True, slots=True)
class SettingRule:
    """A setting whose path has the one pattern in it, and whose value begins with the other, means the fault."""

    path: re.Pattern[str]
    value: re.Pattern[str]
    fault: str
    role: Role


@dataclass(frozen=True, slots=True)
class AtLimit:
    """A GPU that is as warm as this `limit` of its own has the fault."""

    limit: str
    fault: str
    role: Role


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return catalog.table("gpu_settings.toml")


@lru_cache(maxsize=1)
def _rules() -> tuple[SettingRule, ...]:
    return tuple(
        SettingRule(
            re.compile(row["path"]), re.compile(row["value"]), faults.get(row["fault"]).code, row.get("role", "root")
        )
        for row in _table()["rule"]
    )


@lru_cache(maxsize=4096)
def rules_of(path: str) -> tuple[SettingRule, ...]:
    """Paths are few and come again for each GPU and sample."""
    return tuple(rule for rule in _rules() if rule.path.search(path))


@lru_cache(maxsize=1)
def unread() -> re.Pattern[str]:
    """A value that tells nothing, compared from its beginning."""
    return re.compile(_table()["unread"]["value"])


def temperature_limits() -> dict[str, str]:
    """The last part of a path -> which limit it tells, in degrees Celsius."""
    found: dict[str, str] = _table()["temperature_limits"]
    return found


@lru_cache(maxsize=1)
def at_limits() -> tuple[AtLimit, ...]:
    return tuple(
        AtLimit(row["limit"], faults.get(row["fault"]).code, row.get("role", "root")) for row in _table()["at_limit"]
    )


def facts() -> dict[str, str]:
    """Path -> the field of PartFacts that it fills."""
    found: dict[str, str] = _table()["facts"]
    return found
