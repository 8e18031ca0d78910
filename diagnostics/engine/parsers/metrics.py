"""Metrics in every form as one list, and the list of targets of Prometheus.

{"status": "success", "data": {"activeTargets": [{"labels": {...}, "health": "down", "lastError": "..."}]}}
"""

from dataclasses import replace
from typing import Any

from diagnostics.engine.parsers import metrics_json, metrics_text
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metric import Metric, host_of, is_address
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches

_HEAD_ROWS = 200


def metrics(evidence: Log | JsonText) -> list[Metric]:
    if isinstance(evidence, JsonText):
        found = list(metrics_json.metrics(evidence.value, evidence.text))
    else:
        found = [*metrics_text.metrics(evidence.text), *metrics_json.of_text(evidence.text)]
    return _with_names(found)


def _with_names(found: list[Metric]) -> list[Metric]:
    """`node_uname_info` tells the name of a machine that the other metrics of its exporter call by its address, or not at all."""
    names = {
        host_of(metric.labels.get("instance", "")): metric.labels["nodename"]
        for metric in found
        if metric.name == "node_uname_info" and metric.labels.get("nodename")
    }
    if not names:
        return found
    return [
        replace(metric, node=names.get(metric.node or "", metric.node))
        if metric.node is None or is_address(metric.node)
        else metric
        for metric in found
    ]


def targets(document: JsonText) -> list[dict[str, Any]]:
    return [row for row in document.value["data"].get("activeTargets") or [] if isinstance(row, dict)]


def _is_targets(value: Any) -> bool:
    data = value.get("data") if isinstance(value, dict) else None
    return isinstance(data, dict) and isinstance(data.get("activeTargets"), list)


def _looks_like_text(head: str) -> bool:
    rows = [row.strip() for row in head.splitlines()[:_HEAD_ROWS] if row.strip()]
    hits = sum(
        1
        for row in rows
        if row.startswith(("# HELP ", "# TYPE ")) or ("{" in row and metrics_text.row(row) is not None)
    )
    return hits * 2 > len(rows)


TEXT_KINDS: TextKinds = (
    ("metrics", matches(r"(?m:^# (?:HELP|TYPE) [A-Za-z_:][\w:]* )")),
    ("metrics", matches(r"(?mi:^<? ?content-type: ?(?:text/plain; ?version=0\.0\.4|application/openmetrics-text))")),
    ("metrics", lambda head: metrics_json.LOOKS_LIKE.search(head) is not None),
    ("metrics", _looks_like_text),
)
JSON_KINDS: JsonKinds = (("metrics", metrics_json.is_answer), ("metrics-targets", _is_targets))
