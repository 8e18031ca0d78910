"""What the settings of a GPU mean, as nvidia-smi -q prints them (text, XML) or --query-gpu (CSV). Tables say which value means what."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from diagnostics.engine.judges import components, gpu_growth, gpu_peers
from diagnostics.engine.judges.gpu_speaker import Speaker, first, limits_of_gpu, number
from diagnostics.engine.parsers import nvidia_smi, smi_csv
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Observation, Role
from incidents.domain.hardware import PartFacts


class Rule(NamedTuple):
    path: str
    value: str
    fault: str
    role: Role = "root"


_YES, _ACTIVE, _SOME, _TRUE = r"(?i)(?:yes\b|1$)", r"(?i)active\b", r"[1-9]\d*$", r"(?i)(?:true|yes)\b"
_NOT_READ = r"n/?a\b|\[|not supported|not applicable|unknown|requested|insufficient permission|deprecated|err!"

# Where both match, the setting means the fault. Names of drivers 418 to 595: text, XML, columns ("." is "/").
_RULES = [
    Rule(r"(?:remapping_failure_occurred|remapped_row_failure|remapped_rows/failure|unrepairable_memory)$", _YES, "gpu.row_remap.failed"),
    Rule(r"remapped_rows/(?:remapped_row_)?pending$", _YES, "gpu.row_remap.pending"),
    Rule(r"(?:channel|tpc)_repair_pending$", _YES, "gpu.row_remap.pending"),
    Rule(r"(?:row_remapper_histogram_none|histogram/none)$", r"[1-9]", "gpu.row_remap.failed", "note"),
    Rule(r"retired_pages/(?:pending\w*|pending/.*)$", _YES, "gpu.page_retirement.pending"),
    Rule(r"sram_?threshold_?exceeded$", _YES, "gpu.ecc.sram_threshold"),
    Rule(r"hw_power_brake(?:_slowdown)?$", _ACTIVE, "gpu.power.brake"),
    Rule(r"(?:hw|sw)_thermal_slowdown$", _ACTIVE, "gpu.thermal.slowdown"),
    Rule(r"volatile/(?:.*/)?(?:dram_uncorrectable|sram_uncorrectable\w*)$", _SOME, "gpu.ecc.uncorrectable"),
    Rule(r"volatile/double_bit/total$", _SOME, "gpu.ecc.uncorrectable"),
    Rule(r"ecc/errors/uncorrected/volatile/\w+", _SOME, "gpu.ecc.uncorrectable"),
    Rule(r"aggregate/(?:.*/)?(?:dram_uncorrectable|sram_uncorrectable\w*)$", _SOME, "gpu.ecc.uncorrectable", "note"),
    Rule(r"aggregate/double_bit/total$", _SOME, "gpu.ecc.uncorrectable", "note"),
    Rule(r"ecc/errors/uncorrected/aggregate/\w+$", _SOME, "gpu.ecc.uncorrectable", "note"),
    Rule(r"recovery_action$", rf"(?i)(?!none\b|{_NOT_READ})[a-z]", "gpu.reset_required"),
    Rule(r"(?:reset_required|drain_and_reset_recommended)$", r"(?i)yes\b", "gpu.reset_required"),
    Rule(r"fabric/state$", r"(?i)(?:in progress|not started)", "gpu.fabric_manager"),
    Rule(r"fabric/status$", r"(?i)(?!success|n/?a\b|\[|not supported)[a-z]", "gpu.fabric_manager"),
    Rule(r"fabric/health/(?:bandwidth|summary)$", r"(?i)(?:degraded|unhealthy|limited)", "gpu.nvlink.degraded"),
    Rule(r"fabric/health/route_unhealthy$", _TRUE, "gpu.nvlink.error"),
    Rule(r"fabric/health/(?:route_recovery_in_progress|access_timeout_recovery)$", _TRUE, "gpu.nvlink.degraded", "note"),
    Rule(r"fabric/health/incorrect_configuration$", rf"(?i)(?!none\b|false|no\b|{_NOT_READ})[a-z]", "gpu.fabric_manager"),
    Rule(r".", r"\[?GPU is lost", "gpu.lost"),
    Rule(r".", r"\[?GPU requires reset", "gpu.lost"),
]  # fmt: skip
_COMPILED = [(re.compile(rule.path), re.compile(rule.value), rule) for rule in _RULES]
_ONCE = ("gpu.lost",)  # every setting of a lost GPU reads so
_BY_ITSELF = re.compile(r"clocks?_(?:throttle|event)s?_reasons(?:_active|/active)$")
_UNKNOWN = re.compile(r"(?i)\[?unknown error\]?$|err!$")


def judge_query(log: Log, *, source_name: str) -> list[Observation]:
    return judge_rows(nvidia_smi.settings(log.text), source_name)


def judge_csv(log: Log, *, source_name: str) -> list[Observation]:
    return judge_rows(smi_csv.settings(log.text), source_name)


def judge_rows(rows: Sequence[Setting], source_name: str) -> list[Observation]:
    boards: dict[str, list[Setting]] = defaultdict(list)
    for row in rows:
        boards[row.gpu].append(row)
    say = Speaker(source_name)
    for settings in boards.values():
        board, earlier = _latest(settings)
        _by_rules(earlier, say, role="note")
        gpu_growth.judge(settings, say)
        for judge in (_by_rules, _hot, _pending_modes, _link, _worn, _slowed, _unreadable):
            judge(board, say)
    gpu_peers.judge({gpu: _latest(settings)[0] for gpu, settings in boards.items() if gpu}, say)
    return _without_followers(say.found)


def _latest(rows: Sequence[Setting]) -> tuple[list[Setting], list[Setting]]:
    """The last sample of a print that was repeated (-l, a loop) tells the state; what an earlier one says is over, or said again."""
    last = {row.path: row for row in rows}
    return list(last.values()), [row for row in rows if last[row.path] is not row]


def _without_followers(found: Sequence[Observation]) -> list[Observation]:
    """A board that is past its shutdown limit slows down as well."""
    hot = {seen.component for seen in found if seen.fault == "gpu.thermal.shutdown"}
    return [
        replace(seen, role="consequence")
        if seen.fault == "gpu.thermal.slowdown" and seen.role == "root" and seen.component in hot
        else seen
        for seen in found
    ]


def _by_rules(rows: Sequence[Setting], say: Speaker, *, role: Role | None = None) -> None:
    said: set[str] = set()
    for row in rows:
        for value, rule in _rules_for(row.path):
            if value.match(row.value) and not (rule.fault in _ONCE and rule.fault in said):
                said.add(rule.fault)
                say(rule.fault, row, role=role or rule.role)


@lru_cache(maxsize=4096)
def _rules_for(path: str) -> tuple[tuple[re.Pattern[str], Rule], ...]:
    """Paths are few and come again for each GPU and sample."""
    return tuple((value, rule) for pattern, value, rule in _COMPILED if pattern.search(path))


_NOW = re.compile(r"temperature/(?:gpu_current_temp|gpu_temp|gpu)$|^gpu_current_temp$")
_LIMITS = {
    "gpu_shutdown_temp": "shutdown", "gpu_temp_max_threshold": "shutdown",
    "gpu_slowdown_temp": "slowdown", "gpu_temp_slow_threshold": "slowdown",
    "gpu_max_operating_temp": "most", "gpu_temp_max_gpu_threshold": "most",
    "gpu_shutdown_t_limit_temp": "margin shutdown", "gpu_temp_max_tlimit_threshold": "margin shutdown",
    "memory_max_operating_temp": "memory", "gpu_temp_max_mem_threshold": "memory",
}  # fmt: skip
_MARGIN = re.compile(r"temperature/(?:gpu_t_limit_temp|gpu_temp_tlimit|gpu/tlimit)$")
_MEMORY = re.compile(r"temperature/(?:memory_current_temp|memory_temp)$")


def _hot(rows: Sequence[Setting], say: Speaker) -> None:
    """The temperature against the board's own limits; newer drivers print the margin to them instead ("T.Limit")."""
    limits: dict[str, float] = {}
    for row in rows:
        which = _LIMITS.get(row.path.rsplit("/", 1)[-1])
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


_AGAINST: tuple[tuple[str, str, Role], ...] = (
    ("shutdown", "gpu.thermal.shutdown", "root"),
    ("slowdown", "gpu.thermal.slowdown", "root"),
    ("most", "gpu.thermal.slowdown", "note"),
)


def _against(value: float, row: Setting, limits: dict[str, float], say: Speaker) -> None:
    for which, fault, role in _AGAINST:
        if 0 < limits.get(which, 0) <= value:
            say(fault, row, role=role, detail=f"its limit is {limits[which]:g} C")
            return


_MODES = {
    name: tuple(re.compile(rf"{name}_?mode/{when}(?:_{name})?$|{name}/mode/{when}$") for when in ("current", "pending"))
    for name in ("mig", "ecc")
}


def _pending_modes(rows: Sequence[Setting], say: Speaker) -> None:
    """A mode that waits for a reset: without MIG as asked for no job finds its slice; ECC is somebody's wish."""
    for name, (current, pending) in _MODES.items():
        now, then = first(rows, current), first(rows, pending)
        if now and then and _is_read(now) and _is_read(then) and now.value.lower() != then.value.lower():
            if name == "mig":
                say("gpu.mig.misconfigured", then, detail=f"now {now.value}, after a reset {then.value}")
            else:
                say("gpu.config", then, role="note", detail=f"ECC now {now.value}, after a reset {then.value}")


_GENERATION_NOW = re.compile(r"(?:pcie_gen(?:eration)?|link/gen)/(?:current(?:_link_gen)?|gpucurrent)$")
_GENERATION_MOST = re.compile(r"(?:pcie_gen(?:eration)?|link/gen)/max(?:_link_gen)?$")
_STATE = re.compile(r"(?:performance_state|pstate)$")
_BUSY = re.compile(r"utilization/(?:gpu|gpu_util)$")
_IDLE = re.compile(
    r"(?:clocks?_(?:throttle|event)s?_reasons\w*/)(?:idle|gpu_idle|clocks?_(?:throttle|event)s?_reason_gpu_idle)$"
)


def _link(rows: Sequence[Setting], say: Speaker) -> None:
    """The generation is lowered at idle, so it counts under load only."""
    now, most = _values(rows, _GENERATION_NOW, _GENERATION_MOST)
    if now and most and now[1] < most[1] and _is_loaded(rows):
        say("gpu.pcie.degraded", now[0], detail=f"generation {now[1]:g} of {most[1]:g} under load")


def _values(rows: Sequence[Setting], *patterns: re.Pattern[str]) -> tuple[tuple[Setting, float] | None, ...]:
    found: list[tuple[Setting, float] | None] = []
    for pattern in patterns:
        row = first(rows, pattern)
        value = number(row.value) if row else None
        found.append((row, value) if row and value else None)
    return tuple(found)


def _is_loaded(rows: Sequence[Setting]) -> bool:
    state, busy, idle = first(rows, _STATE), first(rows, _BUSY), first(rows, _IDLE)
    if state is None or state.value.upper() not in ("P0", "P1", "P2"):
        return False
    share = number(busy.value) if busy else None
    if share is not None:
        return share >= limits_of_gpu()["busy_percent"]
    return idle is not None and idle.value.lower() == "not active"


_SRAM_LIFE = re.compile(r"aggregate/(?:.*/)?sram_uncorrectable\w*$|uncorrected/aggregate/sram$")
_SRAM_FLAG = re.compile(r"sram_?threshold_?exceeded$")
_CORRECTED = re.compile(r"volatile/(?:.*/)?dram_correctable$|corrected/volatile/dram$")
_REMAPPED = re.compile(r"remapped_rows/(?:remapped_row_unc|uncorrectable_error|uncorrectable)$")
_SINGLE = re.compile(
    r"retired_pages/(?:single_bit_ecc|single_bit_ecc/count|sbe|multiple_single_bit_retirement/retired_count)$"
)
_DOUBLE = re.compile(r"retired_pages/(?:double_bit_ecc|double_bit/count|dbe|double_bit_retirement/retired_count)$")


def _worn(rows: Sequence[Setting], say: Speaker) -> None:
    """Counts of the board's life. The driver's own flag on SRAM is better than the rule of thumb, so that counts only without it."""
    limits = limits_of_gpu()
    flag = first(rows, _SRAM_FLAG)
    life = [row for row in rows if _SRAM_LIFE.search(row.path)]
    if (
        life
        and (flag is None or not _is_read(flag))
        and sum(number(row.value) or 0 for row in life) > limits["sram_uncorrectable"]
    ):
        worst = max(life, key=lambda row: number(row.value) or 0)
        say(
            "gpu.ecc.uncorrectable",
            worst,
            confidence="medium",
            detail=f"more than {limits['sram_uncorrectable']} in the board's life",
        )
    for row in rows:
        if _CORRECTED.search(row.path) and (number(row.value) or 0) >= limits["dram_corrected_storm"]:
            say("gpu.ecc.correctable_storm", row)
        if _REMAPPED.search(row.path) and (number(row.value) or 0) >= limits["retire_rows_uncorrectable"]:
            say("gpu.row_remap.failed", row, detail="as many remapped rows mean replacement")
    single, double = _values(rows, _SINGLE, _DOUBLE)
    pages = sum(one[1] for one in (single, double) if one)
    if pages >= limits["retired_pages"]:
        say("gpu.page_retirement.exhausted", (double or single)[0], detail=f"{pages:g} pages retired")  # type: ignore[index]
    elif double and double[1] >= limits["retired_pages_double_bit"]:
        say(
            "gpu.page_retirement.exhausted",
            double[0],
            role="note",
            detail=f"{double[1]:g} pages retired for double-bit errors",
        )


_SLOWED = re.compile(r"(?:^|/|_)hw_slowdown$")
_CAUSES = re.compile(r"hw_(?:thermal_slowdown|power_brake(?:_slowdown)?)$")


def _slowed(rows: Sequence[Setting], say: Speaker) -> None:
    limits = limits_of_gpu()
    row = first(rows, _SLOWED)
    if (
        row
        and row.value.lower() == "active"
        and not any(r.value.lower() == "active" for r in rows if _CAUSES.search(r.path))
    ):
        say("gpu.clocks.low", row, role="note", detail="hardware slowdown without a stated cause")
    for row in rows:
        if _BY_ITSELF.search(row.path) and re.fullmatch(r"0x[0-9a-fA-F]+", row.value):
            bits = int(row.value, 16)
            if bits & limits["thermal_bits"]:
                say("gpu.thermal.slowdown", row)
            if bits & limits["power_brake_bit"]:
                say("gpu.power.brake", row)


def _unreadable(rows: Sequence[Setting], say: Speaker) -> None:
    """One value that cannot be read is a gap; nearly none that can is a GPU that does not answer."""
    unknown = [row for row in rows if _UNKNOWN.match(row.value)]
    if len(unknown) >= limits_of_gpu()["unknown_values"] or (len(unknown) > 1 and len(unknown) * 2 > len(rows)):
        say("gpu.lost", unknown[0], confidence="medium", detail=f"{len(unknown)} values cannot be read")


def _is_read(row: Setting) -> bool:
    return not re.match(rf"(?i)$|{_NOT_READ}", row.value)


_FACTS = {
    "product_name": "model", "name": "model", "gpu_name": "model", "serial_number": "serial", "serial": "serial", "gpu_serial": "serial",
    "gpu_uuid": "uuid", "uuid": "uuid",
}  # fmt: skip


def parts_of_query(log: Log) -> list[PartFacts]:
    """Without an index of their own, GPUs are printed in the order of their index, unless only some were asked for."""
    rows = nvidia_smi.settings(log.text)
    boards = list(dict.fromkeys(row.gpu for row in rows if row.gpu))
    attached = next((row.value for row in rows if row.path == "attached_gpus"), "")
    numbered = attached == str(len(boards))
    made = []
    for place, board in enumerate(boards):
        facts: dict[str, Any] = dict(_facts(rows, board))
        made.append(
            PartFacts(
                "gpu", str(place) if numbered else "", pci_address=components.pci(board, board=True) or "", **facts
            )
        )
    return made


def _facts(rows: Sequence[Setting], board: str) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row.gpu == board and (field := _FACTS.get(row.path)) and _is_read(row):
            yield field, row.value


def parts_of_csv(log: Log) -> list[PartFacts]:
    found: dict[str, PartFacts] = {}
    for row in smi_csv.rows(log.text):
        gpu = row.gpu
        if gpu and gpu not in found:
            facts: dict[str, Any] = {field: row.values[name] for name, field in _FACTS.items() if name in row.values}
            facts.setdefault("uuid", row.uuid)
            found[gpu] = PartFacts("gpu", row.index, pci_address=components.pci(row.pci, board=True) or "", **facts)
    return list(found.values())
