"""GPUs as nvidia-smi and dcgmi describe them. A table says which value means what."""

import re
from typing import NamedTuple

from diagnostics.engine.judges import components
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import dcgm as dcgm_parser
from diagnostics.engine.parsers import nvidia_smi as smi
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role


class Rule(NamedTuple):
    path: str
    value: str
    fault: str
    role: Role = "root"


_YES, _ACTIVE, _SOME = r"(?i)yes\b", r"(?i)active\b", r"[1-9]"

# Where both match, the setting means the fault. Names of drivers 440 to 595, text and XML.
_RULES = [
    Rule(r"(?:remapping_failure_occurred|remapped_row_failure)$", _YES, "gpu.row_remap.failed"),
    Rule(r"remapped_rows/(?:remapped_row_)?pending$", _YES, "gpu.row_remap.pending"),
    Rule(r"retired_pages/pending_(?:page_blacklist|blacklist|retirement)$", _YES, "gpu.page_retirement.pending"),
    Rule(r"sram_threshold_exceeded$", _YES, "gpu.ecc.sram_threshold"),
    Rule(r"hw_power_brake_slowdown$", _ACTIVE, "gpu.power.brake"),
    Rule(r"(?:hw|sw)_thermal_slowdown$", _ACTIVE, "gpu.thermal.slowdown"),
    Rule(r"volatile/(?:.*/)?(?:dram_uncorrectable|sram_uncorrectable\w*)$", _SOME, "gpu.ecc.uncorrectable"),
    Rule(r"volatile/double_bit/total$", _SOME, "gpu.ecc.uncorrectable"),
    Rule(r"aggregate/(?:.*/)?(?:dram_uncorrectable|sram_uncorrectable\w*)$", _SOME, "gpu.ecc.uncorrectable", "note"),
    Rule(r"recovery_action$", r"(?i)(?!none|n/a)\w", "gpu.reset_required"),
    Rule(r"fabric/state$", r"(?i)(?:in progress|not started)", "gpu.fabric_manager"),
    Rule(r"fabric/status$", r"(?i)(?!success|n/a|not supported)[a-z]", "gpu.fabric_manager"),
    Rule(r".", r"\[?GPU is lost", "gpu.lost"),
    Rule(r".", r"\[?GPU requires reset", "gpu.lost"),
]
_COMPILED = [(re.compile(rule.path), re.compile(rule.value), rule) for rule in _RULES]

# What a failing row of `dcgmi diag` gives as its reason.
_REASONS = [
    (re.compile(r"row\s*remappings?\s+(?:are|is)\s+pending|pending row remap", re.IGNORECASE), "gpu.row_remap.pending"),
    (re.compile(r"row\s*remap\w*\s+fail", re.IGNORECASE), "gpu.row_remap.failed"),
    (re.compile(r"thermal violation", re.IGNORECASE), "gpu.thermal.slowdown"),
    (re.compile(r"page retirement|pending retired page", re.IGNORECASE), "gpu.page_retirement.pending"),
    (re.compile(r"double.?bit|uncorrectable ecc|DBE\b", re.IGNORECASE), "gpu.ecc.uncorrectable"),
    (re.compile(r"nvlink.*(?:is currently )?down|nvlink error", re.IGNORECASE), "gpu.nvlink.error"),
    (re.compile(r"pcie? replay", re.IGNORECASE), "gpu.pcie.replay"),
]
_LIMITS = {
    "temperature/gpu_shutdown_temp": "shutdown", "temperature/gpu_temp_max_threshold": "shutdown",
    "temperature/gpu_slowdown_temp": "slowdown", "temperature/gpu_temp_slow_threshold": "slowdown",
}  # fmt: skip
_GPU_NUMBER = re.compile(r"GPUs?:?\s?(\d+)")
_FAILED = re.compile(r"\s*Fail\b(?: - GPUs?: (?P<gpus>[\d, ]+))?")


def settings(log: Log, *, source_name: str) -> list[Observation]:
    rows = smi.settings(log.text)
    found = []
    for row in rows:
        for path, value, rule in _COMPILED:
            if value.match(row.value) and path.search(row.path):
                found.append(_say(rule.fault, row, source_name, role=rule.role))
    return found + _hot(rows, source_name) + _mig(rows, source_name)


def _say(fault: str, row: smi.Setting, source_name: str, *, role: Role = "root") -> Observation:
    component = components.pci(row.gpu, board=True) or row.gpu or None
    action = row.value if fault == "gpu.reset_required" else None
    line = EvidenceLine(row.number, row.raw)
    return Observation(fault, line, source_name, role=role, component=component, action=action, order=row.number)


def _hot(rows: list[smi.Setting], source_name: str) -> list[Observation]:
    """The current temperature against the board's own limits, GPU by GPU."""
    found: list[Observation] = []
    limits: dict[tuple[str, str], float] = {}
    for row in rows:
        if (which := _LIMITS.get(row.path)) and (degrees := _degrees(row.value)):
            limits[row.gpu, which] = degrees
    for row in rows:
        now = _degrees(row.value) if re.fullmatch(r"temperature/(?:gpu_current_temp|gpu_temp)", row.path) else None
        if now is None:
            continue
        shutdown, slowdown = limits.get((row.gpu, "shutdown")), limits.get((row.gpu, "slowdown"))
        if shutdown and now >= shutdown:
            found.append(_say("gpu.thermal.shutdown", row, source_name))
        elif slowdown and now >= slowdown:
            found.append(_say("gpu.thermal.slowdown", row, source_name))
    return found


def _degrees(text: str) -> float | None:
    match = re.match(r"(\d+(?:\.\d+)?) C\b", text)
    return float(match.group(1)) if match else None


def _mig(rows: list[smi.Setting], source_name: str) -> list[Observation]:
    modes: dict[str, dict[str, smi.Setting]] = {}
    for row in rows:
        if match := re.fullmatch(r"mig_mode/(current|pending)(?:_mig)?", row.path):
            modes.setdefault(row.gpu, {})[match.group(1)] = row
    return [
        _say("gpu.mig.misconfigured", pair["pending"], source_name)
        for pair in modes.values()
        if len(pair) == 2 and pair["current"].value != pair["pending"].value
    ]


def links(log: Log, *, source_name: str) -> list[Observation]:
    """Some links up and some not: a fault. None at all: a board without a bridge, or a single GPU."""
    found = []
    for gpu, rows in smi.links(log.text).items():
        down = [row for row in rows if "inactive" in row.value.lower()]
        if down and len(down) < len(rows):
            line = EvidenceLine(down[0].number, down[0].raw)
            found.append(
                Observation(
                    "gpu.nvlink.error", line, source_name, component=f"GPU {gpu}", count=len(down), order=line.number
                )
            )
    return found


def diagnostic(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for cell in dcgm_parser.cells(log.text):
        flat = re.sub(r"\s+", " ", cell.text)
        line = EvidenceLine(cell.number, cell.raw)
        if cell.name.lower() in ("error", "warning"):
            fault = next((code for pattern, code in _REASONS if pattern.search(flat)), None)
            gpu = _GPU_NUMBER.search(flat)
            if fault or cell.name.lower() == "error":
                component = f"GPU {gpu.group(1)}" if gpu else None
                found.append(
                    Observation(
                        fault or "gpu.diag.failed",
                        line,
                        source_name,
                        component=component,
                        detail=flat.strip(),
                        order=cell.number,
                    )
                )
        elif failed := _FAILED.match(cell.text):
            for number in re.findall(r"\d+", failed["gpus"] or "") or [None]:
                component = f"GPU {number}" if number else None
                found.append(
                    Observation(
                        "gpu.diag.failed", line, source_name, component=component, detail=cell.name, order=cell.number
                    )
                )
    return found


FORMATS = {
    "nvidia-smi": Format(
        "nvidia-smi", (settings,), of("gpu.presence", "gpu.memory", "gpu.thermal", "gpu.power", "gpu.mig", "gpu.firmware"),
        has_log=True,
    ),
    "nvidia-smi-table": Format(
        "nvidia-smi table", (), of("gpu.presence"), has_log=True,
        unread="the table shows no row remapping, throttling or links; give the output of nvidia-smi -q as well",
    ),
    "nvlink": Format("nvidia-smi nvlink", (links,), of("gpu.nvlink"), has_log=True),
    "dcgm-diag": Format("dcgmi diag", (diagnostic,), of("gpu.diagnostic", "gpu.memory", "gpu.thermal")),
}  # fmt: skip
