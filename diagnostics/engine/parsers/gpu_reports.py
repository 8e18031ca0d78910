"""What agents that watch GPUs report as JSON: states and events, each an object with a message.

Known by what they tell of: codes of DCGM, Xids, the agents' own names. An event that carries no verdict is trouble, and every value of
it is kept, for a code, a counter or an address may say what the message does not. Health checkers of a whole node: health_states.

{"component": "accelerator-nvidia-error-xid", "events": [{"type": "Fatal", "message": "XID 120 ...", "raw": "NVRM: Xid (..."}]}
{"agent": "gpu-health-monitor", "isHealthy": false, "errorCode": ["DCGM_FR_PENDING_ROW_REMAP"], "message": "...",
 "entitiesImpacted": [{"entityType": "GPU", "entityValue": "4"}], "nodeName": "gpu-e15"}
{"tests": [{"name": "eud", "status": "Fail", "entity": "GPU 6", "warning": "...", "error_code": "DCGM_FR_EUD_TEST_FAILED"}]}
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers import health_states
from diagnostics.engine.parsers.recognise import JsonKinds

_TEXTS = ("message", "reason", "warning", "warnings", "error", "errors", "raw", "log_line", "errorCode", "error_code")
_VERDICTS = ("isHealthy", "is_healthy", "healthy", "health", "status", "result", "state", "type", "severity")
_WELL = health_states.WELL | {"info", "normal", "none"}
_NODES = ("nodeName", "node_name", "node", "hostname", "host", "machineID", "machine_id")
_OF_GPUS = re.compile(
    r"DCGM_FR_[A-Z]|NVRM: Xid \(|\bS?X(?:ID|id)[:=]? ?\d{1,5}\b|accelerator-nvidia-|\bgpu-health-monitor\b|\bSysLogsS?XID"
)
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value with the names above it, the outermost first."""

    path: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Report:
    """`is_well` where the agent itself calls it so; `node` the one that is named nearest."""

    leaves: tuple[Leaf, ...]
    is_well: bool
    node: str | None


def reports(value: Any, node: str | None = None, depth: int = 0) -> Iterator[Report]:
    """The outermost objects that have a message."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from reports(one, node, depth + 1)
    elif isinstance(value, dict):
        node = next((value[key] for key in _NODES if isinstance(value.get(key), str)), node)
        if any(value.get(key) and not _is_objects(value[key]) for key in _TEXTS):
            if leaves := tuple(_leaves(value, (), depth)):
                yield Report(leaves, _is_well(value), node)
        else:
            for one in value.values():
                yield from reports(one, node, depth + 1)


def _is_objects(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value))


def _is_well(value: dict[str, Any]) -> bool:
    """The first verdict counts, for it is the narrowest."""
    verdict = next((value[key] for key in _VERDICTS if isinstance(value.get(key), str | bool)), "")
    return str(verdict).lower() in _WELL


def _leaves(value: Any, path: tuple[str, ...], depth: int) -> Iterator[Leaf]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        if "entityType" in value and "entityValue" in value:
            yield Leaf(path, f"{value['entityType']}:{value['entityValue']}")
            return
        for key, one in value.items():
            yield from _leaves(one, (*path, str(key)), depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, path, depth + 1)
    elif value is not None:
        yield Leaf(path, str(value))


def _is_of_gpus(value: Any) -> bool:
    """Also by the name of the component, which stands above its states."""
    found = list(reports(value))
    names = [one.get("component") for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
    texts = [leaf.value for report in found for leaf in report.leaves]
    return bool(found) and any(_OF_GPUS.search(str(text)) for text in (*names, *texts))


JSON_KINDS: JsonKinds = (("gpu-reports", _is_of_gpus),)
