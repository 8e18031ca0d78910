"""Metrics as JSON: answers of the HTTP API of Prometheus (or what jq left of them), lines of an export.

{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"__name__": ...}, "value": [1733024280, "1"]}]}}
{"metric": {"__name__": "up", "instance": "n1:9100"}, "values": [1, 0], "timestamps": [1733024280000, 1733024340000]}
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from diagnostics.engine.parsers.metric import Metric, metric
from diagnostics.engine.types import EvidenceLine

LOOKS_LIKE = re.compile(r'"metric"\s*:\s*\{[^{}]{0,4000}\}\s*,\s*"values?"\s*:\s*\[')
_RESULT_TYPES = ("vector", "matrix", "scalar")
_ROW = re.compile(r'(?=\{\s*"metric"\s*:)')
_BEGIN = re.compile(rf"(?m)^[ \t]*(?=[{{\[])|{_ROW.pattern}")
_MOST_BROKEN = 4  # each costs the way to its end: then only rows are looked for, and after as many broken ones nothing
_LABELS = re.compile(r'"metric"\s*:\s*\{')
_NAME = re.compile(r'"__name__"\s*:')
_EXCERPT = 240


class _Piece(NamedTuple):
    """Where a document stands in the text, and the number of its first line."""

    text: str
    start: int
    end: int
    number: int = 1


def metrics(value: Any, text: str) -> Iterator[Metric]:
    """Of a document that was parsed from the whole text."""
    return _of_piece(value, _Piece(text, 0, len(text)))


def of_text(text: str) -> Iterator[Metric]:
    """Of a text that is no document: one document a line, several in a row, headers before it, a document without its end."""
    decoder = json.JSONDecoder()
    at, number, counted, broken = 0, 1, 0, 0
    while broken < 2 * _MOST_BROKEN and (begin := (_BEGIN if broken < _MOST_BROKEN else _ROW).search(text, at)):
        start = begin.end()
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            broken, at = broken + 1, start + 1
        else:
            number, counted = number + text.count("\n", counted, start), start
            yield from _of_piece(value, _Piece(text, start, at, number))


def _of_piece(value: Any, piece: _Piece) -> Iterator[Metric]:
    rows = [row for row in _result(value) if isinstance(row, dict) and isinstance(row.get("metric"), dict)]
    lines = list(_lines(piece)) if rows else []
    if len(lines) != len(rows):
        lines = [EvidenceLine(0, json.dumps(row["metric"])[:_EXCERPT]) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        labels = {str(key): str(one) for key, one in row["metric"].items()}
        if read := metric(labels.pop("__name__", ""), labels, _samples(row), line):
            yield read


def _lines(piece: _Piece) -> Iterator[EvidenceLine]:
    """One for each object of labels, in their order: the line that names the metric."""
    text, number, counted = piece.text, piece.number, piece.start
    starts = [match.start() for match in _LABELS.finditer(text, piece.start, piece.end)]
    for start, following in pairwise([*starts, piece.end]):
        name = _NAME.search(text, start, following)
        at = name.start() if name else start
        number, counted = number + text.count("\n", counted, at), at
        yield EvidenceLine(number, _excerpt(text, start, at))


def _excerpt(text: str, start: int, at: int) -> str:
    """The line with `at`; of a long one, what stands from `start` on."""
    begin = text.rfind("\n", max(start - _EXCERPT, 0), at) + 1
    end = text.find("\n", at, at + _EXCERPT)
    end = end if end >= 0 else len(text)
    if end - begin > _EXCERPT:
        begin, end = start, min(start + _EXCERPT, end)
    return text[begin:end].strip()


def is_answer(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_row(value[0])
    if not isinstance(value, dict):
        return False
    data = value.get("data", value)
    return _is_row(value) or (
        isinstance(data, dict) and isinstance(data.get("result"), list) and data.get("resultType") in _RESULT_TYPES
    )


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("metric"), dict) and bool({"value", "values"} & value.keys())
    )


def _result(value: Any) -> list[Any]:
    if not is_answer(value):
        return []
    if isinstance(value, list):
        return value
    if _is_row(value):
        return [value]
    result: list[Any] = value.get("data", value)["result"]
    return result


def _samples(row: dict[str, Any]) -> Iterator[tuple[object, object]]:
    values, times = row.get("values"), row.get("timestamps")
    if isinstance(values, list) and isinstance(times, list):
        yield from zip(times, values, strict=False)
    for pair in values if isinstance(values, list) else [row.get("value")]:
        if isinstance(pair, list) and len(pair) == 2:
            yield pair[0], pair[1]
