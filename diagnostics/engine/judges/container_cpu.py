"""Containers that spend their time waiting for their CPU limit. The limits are in catalog/containers.toml (`throttled`)."""

from collections.abc import Sequence
from typing import Any

from diagnostics.engine.catalog import containers as words
from diagnostics.engine.judges.metric_signs import pairs, sign
from diagnostics.engine.parsers import container_cpu
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metric import Metric
from diagnostics.engine.types import Observation

_FAULT = "container.resource_pressure"
_PERIODS, _THROTTLED = "container_cpu_cfs_periods_total", "container_cpu_cfs_throttled_periods_total"


def stat(log: Log, *, source_name: str) -> list[Observation]:
    return [
        Observation(_FAULT, one.line, source_name, component=one.container or None, order=one.line.number, **said)
        for one in container_cpu.of_stat(log.text)
        if (said := _judged(one.periods, one.throttled))
    ]


def series(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    """Where a range is told, what was counted in it; else all of the container's life."""
    found = []
    for throttled, periods in pairs(metrics, _THROTTLED, _PERIODS):
        is_range = min(len(throttled.values), len(periods.values)) > 1
        said = _judged(periods.growth, throttled.growth) if is_range else _judged(periods.value, throttled.value)
        if said:
            found.append(sign(_FAULT, throttled, source_name, component=_container(throttled), **said))
    return found


def _container(metric: Metric) -> str | None:
    return next((metric.labels[name] for name in ("pod", "name", "container") if metric.labels.get(name)), None)


def _judged(periods: float, throttled: float) -> dict[str, Any]:
    """How it weighs, and what is said; empty where it is not throttled."""
    limits = words.table()["throttled"]
    share = throttled / periods if periods >= limits["periods"] else 0
    if share < limits["note"]:
        return {}
    role = "root" if share >= limits["root"] else "note"
    return {"role": role, "confidence": "medium", "detail": f"throttled in {share:.0%} of its periods"}
