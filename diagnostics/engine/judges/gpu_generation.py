"""The generation of a GPU's PCIe link against the highest that it can have."""

import re
from collections.abc import Sequence

from diagnostics.engine.judges.gpu_speaker import Speaker, first, limits_of_gpu, number, values
from diagnostics.engine.parsers.nvidia_smi import Setting

_GENERATION_NOW = re.compile(r"(?:pcie_gen(?:eration)?|link/gen)/(?:current(?:_link_gen)?|gpucurrent)$")
_GENERATION_MOST = re.compile(r"(?:pcie_gen(?:eration)?|link/gen)/max(?:_link_gen)?$")
_STATE = re.compile(r"(?:performance_state|pstate)$")
_BUSY = re.compile(r"utilization/(?:gpu|gpu_util)$")
_IDLE = re.compile(
    r"(?:clocks?_(?:throttle|event)s?_reasons\w*/)(?:idle|gpu_idle|clocks?_(?:throttle|event)s?_reason_gpu_idle)$"
)


def judge(rows: Sequence[Setting], say: Speaker) -> None:
    """The generation is lowered at idle, so it counts under load only."""
    now, most = values(rows, _GENERATION_NOW, _GENERATION_MOST)
    if now and most and now[1] < most[1] and _is_loaded(rows):
        say("gpu.pcie.degraded", now[0], detail=f"generation {now[1]:g} of {most[1]:g} under load")


def _is_loaded(rows: Sequence[Setting]) -> bool:
    state, busy, idle = first(rows, _STATE), first(rows, _BUSY), first(rows, _IDLE)
    if state is None or state.value.upper() not in ("P0", "P1", "P2"):
        return False
    share = number(busy.value) if busy else None
    if share is not None:
        return share >= limits_of_gpu()["busy_percent"]
    return idle is not None and idle.value.lower() == "not active"
