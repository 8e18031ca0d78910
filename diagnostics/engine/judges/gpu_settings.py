"""What the settings of a GPU mean, as nvidia-smi -q prints them (text, XML) or --query-gpu (CSV): catalog/gpu_settings.toml first."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from diagnostics.engine.catalog import gpu_settings as catalog
from diagnostics.engine.judges import gpu_generation, gpu_growth, gpu_peers, gpu_temperatures, gpu_wear
from diagnostics.engine.judges.gpu_speaker import Speaker, first, is_read, limits_of_gpu
from diagnostics.engine.parsers import nvidia_smi, smi_csv
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Observation, Role

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
        for judge in (
            _by_rules,
            gpu_temperatures.judge,
            _pending_modes,
            gpu_generation.judge,
            gpu_wear.judge,
            _slowed,
            _unreadable,
        ):
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
        for rule in catalog.rules_of(row.path):
            if rule.value.match(row.value) and not (rule.fault in _ONCE and rule.fault in said):
                said.add(rule.fault)
                say(rule.fault, row, role=role or rule.role)


_MODES = {
    name: tuple(re.compile(rf"{name}_?mode/{when}(?:_{name})?$|{name}/mode/{when}$") for when in ("current", "pending"))
    for name in ("mig", "ecc")
}


def _pending_modes(rows: Sequence[Setting], say: Speaker) -> None:
    """A mode that waits for a reset: without MIG as asked for no job finds its slice; ECC is somebody's wish."""
    for name, (current, pending) in _MODES.items():
        now, then = first(rows, current), first(rows, pending)
        if now and then and is_read(now) and is_read(then) and now.value.lower() != then.value.lower():
            if name == "mig":
                say("gpu.mig.misconfigured", then, detail=f"now {now.value}, after a reset {then.value}")
            else:
                say("gpu.config", then, role="note", detail=f"ECC now {now.value}, after a reset {then.value}")


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
