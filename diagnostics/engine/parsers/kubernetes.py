"""JSON of Kubernetes, docker and crictl.

{"kind": "Pod" | "Node" | "Event" | "List", ...}             kubectl -o json; cut by jq, the kind may be lost
{"phase": "Failed", "reason": ...}                           kubectl -o jsonpath='{.status}'
[{"Id": ..., "State": {"OOMKilled": false, ...}, ...}]       docker inspect
{"status": {"conditions": [{"type": "RuntimeReady", ...}]}}  crictl info
{"status": {"state": "CONTAINER_EXITED", ...}}               crictl inspect
{"containers": [{"state": ..., "metadata": {...}}]}          crictl ps -o json
{"ServerErrors": [...], "Runtimes": {...}}                   docker info -f '{{json .}}'
"""

from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds

_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_KINDS = ("Pod", "Node", "Event", "List", "PodList", "NodeList", "EventList")


def table(value: Any, *keys: str) -> dict[str, Any]:
    """The object under the keys; an empty one if the document has another shape there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def rows(value: Any, key: str) -> list[dict[str, Any]]:
    found = value.get(key) if isinstance(value, dict) else None
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, or the one object that the document is, or that a watch wrapped."""
    value = _unwrapped(value)
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        return rows(value, "items")
    if _is_status(value):
        return [{"kind": "Pod", "status": value}]
    return [value] if isinstance(value, dict) else []


def _unwrapped(value: Any) -> Any:
    """{"type" or "verb": "ADDED", "object" or "event": {...}}"""
    if isinstance(value, dict) and str(value.get("type") or value.get("verb")) in ("ADDED", "MODIFIED"):
        event = value.get("object") or value.get("event")
        return (
            {"kind": "Event", "metadata": {}} | event
            if isinstance(event, dict) and "involvedObject" in event
            else event
        )
    return value


def inspected(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else [value]
    return [row for row in found if isinstance(row, dict)]


def _is_kubernetes(value: Any) -> bool:
    if isinstance(value, dict) and value.get("kind") in _KINDS and "apiVersion" in value:
        return True
    first = next(iter(items(value)), {})
    return _is_status(value) or ("metadata" in first and ("status" in first or "involvedObject" in first))


def _is_status(value: Any) -> bool:
    return isinstance(value, dict) and value.get("phase") in _PHASES and "metadata" not in value and len(value) > 1


def _is_docker_inspect(value: Any) -> bool:
    found = inspected(value)
    return bool(found) and "Id" in found[0] and bool(table(found[0], "State")) and "ExitCode" in found[0]["State"]


def _is_docker_info(value: Any) -> bool:
    return isinstance(value, dict) and ("ServerErrors" in value or {"Runtimes", "ServerVersion"} <= value.keys())


def _is_crictl(value: Any) -> bool:
    status = table(value, "status")
    states = [row.get("state") for row in rows(value, "containers")] + [status.get("state")]
    types = {row.get("type") for row in rows(status, "conditions")}
    return any(str(state).startswith("CONTAINER_") for state in states) or bool(
        types & {"RuntimeReady", "NetworkReady"}
    )


JSON_KINDS: JsonKinds = (
    ("kubernetes-json", _is_kubernetes),
    ("docker-inspect", _is_docker_inspect),
    ("docker-info-json", _is_docker_info),
    ("crictl-json", _is_crictl),
)
