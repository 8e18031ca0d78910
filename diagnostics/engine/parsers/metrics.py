"""Metrics as Prometheus has them: the text that an exporter serves, answers of the HTTP API, and its list of targets.

DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="3",UUID="GPU-5c1",Hostname="n1"} 1
{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"__name__": ...}, "value": [1733024280, "1"]}]}}
{"status": "success", "data": {"activeTargets": [{"labels": {...}, "health": "down", "lastError": "..."}]}}
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_ROW = re.compile(
    r"(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>[+-]?(?:[\d.]+(?:[eE][+-]?\d+)?|Inf|NaN))(?:\s+\d+)?\s*$"
)
_LABEL = re.compile(r'(?P<name>[A-Za-z_]\w*)="(?P<value>(?:[^"\\]|\\.)*)"')


@dataclass(slots=True)
class Metric:
    """One series. `values` are in the order of their time; most evidence has one."""

    name: str
    labels: dict[str, str]
    line: EvidenceLine
    values: list[float] = field(default_factory=list)


def from_text(text: str) -> list[Metric]:
    """The same series again (the exporter asked twice) is one series with two values."""
    found: dict[str, Metric] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _ROW.match(raw.strip()):
            series = f"{match['name']}{{{match['labels'] or ''}}}"
            labels = {one["name"]: one["value"] for one in _LABEL.finditer(match["labels"] or "")}
            metric = found.setdefault(series, Metric(match["name"], labels, EvidenceLine(number, raw.strip())))
            metric.values.append(float(match["value"]))
    return list(found.values())


def from_api(document: JsonText) -> Iterator[Metric]:
    for row in _result(document.value):
        labels = {str(key): str(value) for key, value in row["metric"].items()}
        pairs = row.get("values") or [row.get("value") or [0, "NaN"]]
        line = document.locate(
            "__name__", value=f'"{labels.get("__name__", "")}"', after=next(iter(labels.values()), "")
        )
        yield Metric(labels.pop("__name__", ""), labels, line, [float(value) for _, value in pairs])


def targets(document: JsonText) -> list[dict[str, Any]]:
    return [row for row in document.value["data"].get("activeTargets") or [] if isinstance(row, dict)]


def _result(value: Any) -> list[dict[str, Any]]:
    rows = value["data"]["result"] if isinstance(value, dict) else value
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("metric"), dict)]


def _is_api(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and isinstance(value[0].get("metric"), dict)
    data = value.get("data") if isinstance(value, dict) else None
    return isinstance(data, dict) and isinstance(data.get("result"), list) and "resultType" in data


def _is_targets(value: Any) -> bool:
    data = value.get("data") if isinstance(value, dict) else None
    return isinstance(data, dict) and isinstance(data.get("activeTargets"), list)


def _looks_like_text(head: str) -> bool:
    rows = [row for row in head.splitlines()[:200] if row.strip()]
    hits = sum(1 for row in rows if row.startswith(("# HELP ", "# TYPE ")) or ("{" in row and _ROW.match(row.strip())))
    return hits * 2 > len(rows)


TEXT_KINDS: TextKinds = (
    ("metrics", matches(r"(?m:^# (?:HELP|TYPE) [A-Za-z_:][\w:]* )")),
    ("metrics", _looks_like_text),
)
JSON_KINDS: JsonKinds = (("metrics-api", _is_api), ("metrics-targets", _is_targets))
