"""What a health checker says of each component, as JSON.

Known by their form only: a component or a check with a verdict and a reason, whatever it is of. Without a verdict that it is sick a
state says nothing, and only its reason is read. Reports that tell of GPUs, where more than the reason counts: gpu_reports.

{"component": "infiniband", "health": "Unhealthy", "reason": "..."}
[{"component": "infiniband", "states": [{"name": "ib", "health": "Unhealthy", "reason": "..."}]}]     gpud /v1/states
{"checks": [{"name": "nvlink", "status": "fail", "message": "..."}]}
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds

_VERDICTS = ("health", "healthy", "status", "result")
_REASONS = ("reason", "message", "error", "detail", "output")
_SICK = ("unhealthy", "degraded", "critical", "fail", "failed", "error", "false")
WELL = frozenset(["healthy", "ok", "pass", "passed", "true", "success", "initializing", "skip", "skipped"])
_UNDECIDED = ("warning", "warn", "unknown")
_LISTS = ("states", "checks", "results", "components", "items", "data")


@dataclass(frozen=True, slots=True)
class State:
    """`key` is the field that holds the reason."""

    sick: bool
    reason: str
    key: str


def states(value: Any, depth: int = 0) -> Iterator[State]:
    rows = value if isinstance(value, list) else [value]
    for row in rows if depth < 4 else ():
        if not isinstance(row, dict):
            continue
        verdict, key = _verdict(row), next((key for key in _REASONS if isinstance(row.get(key), str)), "")
        if verdict and key and ("component" in row or "name" in row or depth):
            yield State(verdict in _SICK, row[key], key)
        for name in _LISTS:
            yield from states(row.get(name), depth + 1)


def _verdict(row: dict[str, Any]) -> str:
    words = (str(row[key]).lower() for key in _VERDICTS if isinstance(row.get(key), str | bool))
    return next((word for word in words if word in _SICK or word in WELL or word in _UNDECIDED), "")


def _is_states(value: Any) -> bool:
    return next(states(value), None) is not None


JSON_KINDS: JsonKinds = (("health-states", _is_states),)
