"""GPUs whose readings come as samples (dmon, metrics, a script's own table), made ready for the comparison with their peers."""

from collections import defaultdict
from collections.abc import Iterable

from diagnostics.engine.judges.gpu_speaker import number
from diagnostics.engine.parsers.nvidia_smi import Setting

LOAD, MOST_LOAD = "utilization/gpu", "utilization/most"
_LAST = ("clocks_event_reasons_active", "power/limit", "name")


def boards(readings: Iterable[Setting]) -> dict[str, list[Setting]]:
    """Of each GPU what speaks for it: its least load, and the most of all else. What is odd all the time is left."""
    series: dict[str, dict[str, list[Setting]]] = defaultdict(lambda: defaultdict(list))
    for row in readings:
        if row.path in _LAST or number(row.value) is not None:
            series[row.gpu][row.path].append(row)
    return {gpu: [one for path, rows in paths.items() for one in _of(path, rows)] for gpu, paths in series.items()}


def _of(path: str, rows: list[Setting]) -> list[Setting]:
    if path in _LAST:
        return [rows[-1]]
    most = max(rows, key=_value)
    if path != LOAD:
        return [most]
    return [min(rows, key=_value), Setting(most.gpu, MOST_LOAD, most.value, most.number, most.raw)]


def _value(row: Setting) -> float:
    return number(row.value) or 0
