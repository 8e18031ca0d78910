"""The temperature of a GPU against the limits that it states itself."""

import re
from collections.abc import Sequence

from diagnostics.engine.catalog import gpu_settings as catalog
from diagnostics.engine.judges.gpu_speaker import Speaker, number
from diagnostics.engine.parsers.nvidia_smi import Setting

_NOW = re.compile(r"temperature/(?:gpu_current_temp|gpu_temp|gpu)$|^gpu_current_temp$")
_MARGIN = re.compile(r"temperature/(?:gpu_t_limit_temp|gpu_temp_tlimit|gpu/tlimit)$")
_MEMORY = re.compile(r"temperature/(?:memory_current_temp|memory_temp)$")


def judge(rows: Sequence[Setting], say: Speaker) -> None:
    """The temperature against the board's own limits; newer drivers print the margin to them instead ("T.Limit")."""
    limits: dict[str, float] = {}
    for row in rows:
        which = catalog.temperature_limits().get(row.path.rsplit("/", 1)[-1])
        if which and (degrees := number(row.value)) is not None:
            limits[which] = degrees
    for row in rows:
        value = number(row.value) if "temp" in row.path else None
        if value is None:
            continue
        if _NOW.search(row.path):
            _against(value, row, limits, say)
        elif _MARGIN.search(row.path) and value <= 0:
            gone = "margin shutdown" in limits and value <= limits["margin shutdown"]
            say("gpu.thermal.shutdown" if gone else "gpu.thermal.slowdown", row, detail=f"margin {value:g} C")
        elif _MEMORY.search(row.path) and 0 < limits.get("memory", 0) <= value:
            say("gpu.thermal.slowdown", row, detail=f"memory may have {limits['memory']:g} C")


def _against(value: float, row: Setting, limits: dict[str, float], say: Speaker) -> None:
    for at in catalog.at_limits():
        if 0 < limits.get(at.limit, 0) <= value:
            say(at.fault, row, role=at.role, detail=f"its limit is {limits[at.limit]:g} C")
            return
