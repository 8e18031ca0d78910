"""One GPU that differs from the others of its node: in a setting, in its clocks, in its load. Few GPUs prove nothing."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from diagnostics.engine.judges.gpu_speaker import Speaker, first, limits_of_gpu, number
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Role

Boards = Mapping[str, Sequence[Setting]]

_MODEL = re.compile(r"^(?:product_name|name|gpu_name)$")
_SAME = {
    "gpu.config": (
        re.compile(r"ecc_mode/current(?:_ecc)?$|ecc/mode/current$"),
        re.compile(r"^vbios_version$"),
        re.compile(r"^persistence_mode$"),
        re.compile(r"(?:^|/)applications_clocks/graphics(?:_clock)?$|^clocks/applications/(?:graphics|gr)$"),
        re.compile(r"(?:^|/)applications_clocks/mem(?:ory|_clock)?$|^clocks/applications/mem(?:ory)?$"),
    ),
    "gpu.power.cap": (re.compile(r"(?:current|enforced)_power_limit$|(?:^|/)power/limit|power_readings/power_limit$"),),
}  # fmt: skip
_BUSY = re.compile(r"utilization/(?:gpu|gpu_util)$")
_MOST_BUSY = re.compile(r"utilization/most$")
_CLOCK = re.compile(r"^clocks/(?:sm|sm_clock|current/sm)$")
_MOST = re.compile(r"^(?:max_clocks/(?:sm|sm_clock)|clocks/max/sm)$")
_USED = re.compile(r"(?:fb_memory_usage/used|^memory/used)$")
_REASON = re.compile(r"^clocks?_(?:throttle|event)s?_reasons/(?!idle|gpu_idle|active|supported|clocks_\w+_gpu_idle)")
_REASONS = re.compile(r"^clocks?_(?:throttle|event)s?_reasons(?:_active|/active)$")


def judge(boards: Boards, say: Speaker) -> None:
    for fault, patterns in _SAME.items():
        for pattern in patterns:
            _odd_ones(fault, pattern, boards, say)
    for rows in boards.values():
        _slow(rows, say)
    _narrow(boards, say)
    _unused(boards, say)
    _beside_loaded(boards, say)
    _capped(boards, say)


def _odd_ones(fault: str, pattern: re.Pattern[str], boards: Boards, say: Speaker) -> None:
    """Only where all are of one model and nearly all agree."""
    limits = limits_of_gpu()
    found = [row for rows in boards.values() if (row := first(rows, pattern))]
    models = {row.value for rows in boards.values() if (row := first(rows, _MODEL))}
    if len(found) < limits["peers"] or len(models) > 1:
        return
    usual, often = Counter(row.value for row in found).most_common(1)[0]
    odd = [row for row in found if row.value != usual and not row.value.startswith(("[", "N/A"))]
    if len(odd) * 3 > often:
        return
    for row in odd:
        if fault != "gpu.power.cap" or (number(row.value) or 0) < (number(usual) or 0):
            say(fault, row, detail=f"the others have {usual}")


_WIDTH = re.compile(r"(?:link_widths?|link/width)/current\w*$")
_WIDEST = re.compile(r"(?:link_widths?|link/width)/max\w*$")
_VIRTUAL = re.compile(r"(?:[0-9a-fA-F]{4,8}:)?00:")  # on bus 0 a hypervisor shows what it likes


def _narrow(boards: Boards, say: Speaker) -> None:
    """Drivers print the card's width as the most, not the slot's: where all are as narrow, that is how the machine is built."""
    widths = {
        gpu: (now, most)
        for gpu, rows in boards.items()
        if (now := first(rows, _WIDTH)) and (most := first(rows, _WIDEST))
    }
    values = {gpu: (number(now.value) or 0, number(most.value) or 0) for gpu, (now, most) in widths.items()}
    alike = len(values) > 1 and len(set(values.values())) == 1
    for gpu, (width, widest) in values.items():
        if 0 < width < widest and not _VIRTUAL.match(gpu):
            role: Role = "note" if alike else "root"
            say("gpu.pcie.degraded", widths[gpu][0], role=role, detail=f"width {width:g} of {widest:g}")


def _slow(rows: Sequence[Setting], say: Speaker) -> None:
    """Loaded, far below its clock, and the driver names no reason."""
    busy, clock, most = (first(rows, pattern) for pattern in (_BUSY, _CLOCK, _MOST))
    values = [number(row.value) if row else None for row in (busy, clock, most)]
    if clock is None or any(value is None for value in values):
        return
    share, now, best = (value or 0 for value in values)
    limits = limits_of_gpu()
    if share >= limits["loaded_percent"] and now < best * limits["clock_share"] and _is_without_reason(rows):
        say("gpu.clocks.low", clock, detail=f"{now:g} of {best:g} MHz under load, no reason is stated")


def _is_without_reason(rows: Sequence[Setting]) -> bool:
    bits = first(rows, _REASONS)
    if bits and re.fullmatch(r"0x[0-9a-fA-F]+", bits.value):
        return int(bits.value, 16) == 0
    reasons = [row.value.lower() for row in rows if _REASON.search(row.path)]
    return bool(reasons) and "active" not in reasons


def _unused(boards: Boards, say: Speaker) -> None:
    """All others are busy, this one holds its share of the job's memory and does nothing."""
    limits = limits_of_gpu()
    loads = {gpu: row for gpu, rows in boards.items() if (row := first(rows, _BUSY)) and number(row.value) is not None}
    if (
        len(loads) < limits["peers"]
        or median(number(row.value) or 0 for row in loads.values()) < limits["loaded_percent"]
    ):
        return
    used = {gpu: number(row.value) or 0 for gpu in loads if (row := first(boards[gpu], _USED))}
    if not used:
        return
    for gpu in loads:
        row = first(boards[gpu], _MOST_BUSY) or loads[gpu]
        if number(row.value) == 0 and used.get(gpu, 0) * 2 >= median(used.values()) > 0:
            say("gpu.util.anomaly", row, detail="the other GPUs are busy", confidence="medium")


_DRAW = re.compile(r"(?:^|/)power(?:_draw|/draw)$")
_ACTIVE = re.compile(r"profiling/sm_active$")


def _beside_loaded(boards: Boards, say: Speaker) -> None:
    """All say that they are busy; one of them runs at a low clock for no stated reason, or draws and does next to nothing."""
    limits = limits_of_gpu()
    busy = {
        gpu: rows
        for gpu, rows in boards.items()
        if (row := first(rows, _BUSY)) and (number(row.value) or 0) >= limits["loaded_percent"]
    }
    slow = _odd_low(busy, _CLOCK, limits["clock_share"])
    for gpu, (row, usual) in slow.items():
        if not first(busy[gpu], _MOST) and _states_no_reason(busy[gpu]):
            say("gpu.clocks.low", row, detail=f"the others run at {usual:g} MHz, no reason is stated")
    for pattern in (_ACTIVE, _DRAW):
        for gpu, (row, usual) in _odd_low(busy, pattern, limits["power_share"]).items():
            if gpu not in slow and _states_no_reason(busy[gpu]):
                say(
                    "gpu.util.anomaly",
                    row,
                    confidence="medium",
                    detail=f"says that it is busy; the others have {usual:g}",
                )
                slow[gpu] = (row, usual)


def _odd_low(boards: Boards, pattern: re.Pattern[str], share: float) -> dict[str, tuple[Setting, float]]:
    """Those far below the others, where these are nearly alike: then they do one job."""
    rows = {
        gpu: row for gpu, board in boards.items() if (row := first(board, pattern)) and number(row.value) is not None
    }
    values = {gpu: number(row.value) or 0 for gpu, row in rows.items()}
    if len(values) < limits_of_gpu()["peers"]:
        return {}
    usual = median(values.values())
    low = {gpu: (rows[gpu], usual) for gpu, value in values.items() if value < usual * share}
    others = [value for gpu, value in values.items() if gpu not in low]
    return (
        low
        if low and len(low) * 3 <= len(others) and min(others) >= max(others) * limits_of_gpu()["even_share"]
        else {}
    )


def _states_no_reason(rows: Sequence[Setting]) -> bool:
    """True too where no reasons are printed at all."""
    bits = first(rows, _REASONS)
    if bits:
        return not (number(bits.value) or (re.fullmatch(r"0x[0-9a-fA-F]+", bits.value) and int(bits.value, 16)))
    return not any(row.value.lower() == "active" for row in rows if _REASON.search(row.path))


_LIMIT = re.compile(r"(?:^|[_/])enforced_power_limit$|^enforced/power/limit$|(?:^|/)current_power_limit$|^power/limit$")
_DEFAULT = re.compile(r"(?:^|[_/])default_power_limit$|^power/default_limit$")


def _capped(boards: Boards, say: Speaker) -> None:
    """Far below its own default while a neighbour is not. A limit that all have is somebody's wish."""
    shares = {}
    for gpu, rows in boards.items():
        limit, default = first(rows, _LIMIT), first(rows, _DEFAULT)
        now, usual = (number(row.value) if row else None for row in (limit, default))
        if limit and now and usual:
            shares[gpu] = (limit, now / usual, usual)
    said = {seen.component for seen in say.found if seen.fault == "gpu.power.cap"}
    least = limits_of_gpu()["capped_share"]
    if max((share for _, share, _ in shares.values()), default=0) < 2 * least * limits_of_gpu()["even_share"]:
        return
    for limit, share, usual in shares.values():
        if share < least and say.component_of(limit) not in said:
            say("gpu.power.cap", limit, detail=f"its default limit is {usual:g} W")
