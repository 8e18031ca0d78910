"""What the values of metrics mean (metrics.toml)."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from diagnostics.engine.types import Role
from incidents.domain import faults


@dataclass(frozen=True, slots=True)
class MetricRule:
    """`when` is compared with the last value, `rise` with the growth over all values of the series; `bits` are looked for in it."""

    name: re.Pattern[str]
    fault: str
    role: Role
    labels: Mapping[str, re.Pattern[str]]
    when: tuple[str, float] | None
    rise: float | None
    bits: int


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    with resources.files(__package__).joinpath("metrics.toml").open("rb") as file:
        return tomllib.load(file)


@lru_cache(maxsize=1)
def readings() -> dict[str, tuple[str, float]]:
    """Series of a GPU's readings -> the setting of nvidia-smi that they are, and what to multiply by for its unit."""
    return {name: (row["is"], float(row.get("factor", 1))) for row in _table()["reading"] for name in row["names"]}


@lru_cache(maxsize=1)
def rules() -> tuple[MetricRule, ...]:
    rows = _table()["metric"]
    return tuple(
        MetricRule(
            re.compile(row["name"]),
            faults.get(row["fault"]).code,
            row.get("role", "root"),
            {key: re.compile(value) for key, value in row.get("labels", {}).items()},
            (row["when"].split()[0], float(row["when"].split()[1])) if "when" in row else None,
            row.get("rise"),
            row.get("bits", 0),
        )
        for row in rows
    )
