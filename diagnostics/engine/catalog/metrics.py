"""What the values of metrics mean (metrics.toml)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.types import Role
from incidents.domain import faults


@dataclass(frozen=True, slots=True)
class MetricRule:
    """`when` is compared with the last value, `rise` with the growth over all values of the series; `bits` are looked for in it.

    `values`: the last value is one of them. `part` is how the part is called, with labels in braces, where no label alone names it.
    """

    name: re.Pattern[str]
    fault: str
    role: Role
    labels: Mapping[str, re.Pattern[str]]
    when: tuple[str, float] | None
    rise: float | None
    bits: int
    values: frozenset[float]
    part: str


@dataclass(frozen=True, slots=True)
class Limit:
    """`name` has the `fault` from a `share` of the value of the metric `of` on."""

    name: str
    of: str
    share: float
    fault: str


@dataclass(frozen=True, slots=True)
class XidMetric:
    """One of the `labels` holds the number of the Xid and the value how often it came; without labels the value is the number.

    `text` is what its name says beside the number.
    """

    name: re.Pattern[str]
    labels: tuple[str, ...]
    text: str


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return catalog.table("metrics.toml")


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
            frozenset(row.get("values", ())),
            row.get("part", ""),
        )
        for row in rows
    )


@lru_cache(maxsize=4096)
def rules_of(name: str) -> tuple[MetricRule, ...]:
    return tuple(rule for rule in rules() if rule.name.fullmatch(name))


@lru_cache(maxsize=1)
def limits() -> tuple[Limit, ...]:
    return tuple(
        Limit(row["name"], row["of"], float(row["share"]), faults.get(row["fault"]).code) for row in _table()["limit"]
    )


@lru_cache(maxsize=1)
def _xids() -> tuple[XidMetric, ...]:
    return tuple(
        XidMetric(re.compile(row["name"]), tuple(row.get("labels", ())), row.get("text", "")) for row in _table()["xid"]
    )


@lru_cache(maxsize=4096)
def xid_of(name: str) -> XidMetric | None:
    """How the series of this name tells of Xids, None if it does not."""
    return next((one for one in _xids() if one.name.fullmatch(name)), None)


def gpu_temperatures() -> frozenset[str]:
    return frozenset(_table()["gpu_temperatures"])


def labels(kind: str) -> tuple[str, ...]:
    """The labels that exporters use for the kind, the most telling first."""
    return tuple(_table()["labels"][kind])


def ipmi() -> dict[str, Any]:
    table: dict[str, Any] = _table()["ipmi"]
    return table
