"""Alerts as Alertmanager, Grafana and cloud providers send them about a machine.

{"receiver": ..., "status": "firing", "alerts": [{"status": "firing", "labels": {"alertname": ...}, "annotations": {...}}]}
{"InstanceStatuses": [{"InstanceId": ..., "Events": [{"Code": "instance-retirement", "Description": ...}]}]}      AWS
{"properties": {"availabilityState": "Degraded", "title": ..., "summary": ...}}                                Azure resource health
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.metric import node_of
from diagnostics.engine.parsers.recognise import JsonKinds
from diagnostics.engine.types import EvidenceLine


@dataclass(frozen=True, slots=True)
class Alert:
    """`words` is all that it says; `is_known_trouble` is True where the sender itself is sure that the machine is at fault."""

    words: str
    node: str | None
    part: str | None
    firing: bool
    line: EvidenceLine
    is_known_trouble: bool = False


def alerts(document: JsonText) -> list[Alert]:
    rows = _rows(document.value)
    return [_alert(document, row) for row in rows if isinstance(row, dict) and isinstance(row.get("labels"), dict)]


def _alert(document: JsonText, row: dict[str, Any]) -> Alert:
    labels = {str(key): str(value) for key, value in row["labels"].items()}
    notes = " ".join(str(value) for value in (row.get("annotations") or {}).values())
    name = labels.get("alertname", "")
    status = row.get("status")
    state = status.get("state") if isinstance(status, dict) else status
    return Alert(
        f"{name} {notes}", node_of(labels), labels.get("gpu") or labels.get("device"),
        state in ("firing", "active", None), document.locate("alertname", value=f'"{name}"'), labels.get("severity") == "critical",
    )  # fmt: skip


def cloud_events(document: JsonText) -> Iterator[Alert]:
    value = document.value
    for status in value.get("InstanceStatuses") or []:
        for event in status.get("Events") or []:
            text = str(event.get("Description") or "")
            done = text.startswith(("[Completed]", "[Canceled]"))
            yield Alert(
                text,
                status.get("InstanceId"),
                None,
                not done,
                document.locate("Code", value=f'"{event.get("Code")}"'),
                True,
            )
    for scheduled in value.get("Events") or []:
        if isinstance(scheduled, dict) and "EventType" in scheduled and "ResourceType" in scheduled:
            node = next(iter(scheduled.get("Resources") or []), None)
            yield Alert(str(scheduled.get("Description")), node, None, True, document.locate("EventType"), True)
    properties = value.get("properties")
    if isinstance(properties, dict) and "availabilityState" in properties:
        state = properties["availabilityState"]
        words = f"{properties.get('title', '')} {properties.get('summary', '')}"
        yield Alert(words, None, None, state in ("Degraded", "Unavailable"), document.locate("availabilityState"), True)


def _rows(value: Any) -> list[Any]:
    """A delivery, a list, or one alert alone."""
    if isinstance(value, dict) and "labels" in value:
        return [value]
    rows = value.get("alerts") if isinstance(value, dict) else value
    return rows if isinstance(rows, list) else []


def _is_alerts(value: Any) -> bool:
    first = next(iter(_rows(value)), None)
    return isinstance(first, dict) and "alertname" in (first.get("labels") or {})


def _is_cloud(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    properties = value.get("properties")
    scheduled = any(isinstance(one, dict) and "ResourceType" in one for one in value.get("Events") or [])
    return (
        "InstanceStatuses" in value or scheduled or (isinstance(properties, dict) and "availabilityState" in properties)
    )


JSON_KINDS: JsonKinds = (("alerts", _is_alerts), ("cloud-events", _is_cloud))
