"""Machine checks and CPER records: what the processor and the firmware report through the kernel.

    mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 4: a600000000020408
    {35}[Hardware Error]: event severity: corrected
    {35}[Hardware Error]:   section_type: memory error

Status bits: Intel SDM volume 3B, chapter "Machine-Check Architecture" (63 valid, 61 uncorrected; low 16 bits the error code,
of which 0000 0000 1xxx xxxx is the memory controller). CPER: UEFI specification, appendix N.
"""

import re
from collections.abc import Iterator

from diagnostics.engine.judges import components
from diagnostics.engine.judges.signatures import is_kernel, observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Observation

LITERALS = ("Machine Check", "event severity: ")

_MCE = re.compile(
    r"(?:mce: )?\[Hardware Error\]: CPU (?P<cpu>\d+): Machine Check(?: Exception)?: \w+ Bank (?P<bank>\d+): (?P<status>[0-9a-f]{16})"
)
_EVENT = re.compile(r"(?P<seq>\{\d+\})?\[Hardware Error\]: +event severity: (?P<severity>\w+)")
_FIELD = re.compile(r"(?P<seq>\{\d+\})?\[Hardware Error\]: +(?P<key>[\w ,]+?)\s*: (?P<value>.*)")
_UNCORRECTED, _VALID = 1 << 61, 1 << 63
_RECORD_LINES = 40

# (section, corrected?) -> fault
_CPER_FAULTS = {
    ("memory", True): "host.memory.correctable",
    ("memory", False): "host.memory.uncorrectable",
    ("pcie", True): "host.pcie.correctable",
    ("pcie", False): "host.pcie.fatal",
    ("other", True): "host.cpu.mce",
    ("other", False): "host.cpu.mce",
}


class MachineChecks:
    """The judge of machine checks and CPER records; one for each source."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name

    @staticmethod
    def literals() -> tuple[str, ...]:
        return LITERALS

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not is_kernel(line) or not any(literal in found for literal in LITERALS):
            return
        seen = None
        if match := _MCE.match(line.message):
            seen = _machine_check(match, line, self._source_name)
        elif match := _EVENT.match(line.message):
            seen = _cper(match, line, log, self._source_name)
        if seen:
            yield Hit(seen)


def _machine_check(match: re.Match[str], line: LogLine, source_name: str) -> Observation | None:
    status = int(match["status"], 16)
    if not status & _VALID:
        return None
    corrected = not status & _UNCORRECTED
    memory = (status & 0xFFFF) & 0xEF80 == 0x0080
    if memory:
        fault = "host.memory.correctable" if corrected else "host.memory.uncorrectable"
        component = None  # the bank names a memory controller, not a DIMM: EDAC or the BMC knows which
    else:
        fault, component = "host.cpu.mce", f"CPU {match['cpu']}"
    # A machine check in the first seconds is what the firmware kept from before the boot.
    old = line.moment.uptime_s is not None and line.moment.uptime_s < 10
    return observe(
        line, fault=fault, source_name=source_name, component=component, signature="machine-check",
        role="note" if corrected and not memory else "root",
        detail=f"Bank {match['bank']}" + (", from before this boot" if old else ""),
    )  # fmt: skip


def _cper(match: re.Match[str], line: LogLine, log: Log, source_name: str) -> Observation | None:
    severity = match["severity"].lower()
    if severity == "info":
        return None
    fields = _record(log, line, match["seq"])
    section = fields.get("section_type", "").lower()
    kind = "memory" if "memory" in section else "pcie" if "pcie" in section else "other"
    corrected = severity == "corrected"
    return observe(
        line, fault=_CPER_FAULTS[kind, corrected], source_name=source_name, component=_part(kind, fields), signature="cper",
        role="note" if kind == "other" and corrected else "root", detail=fields.get("error_type") or fields.get("section_type", ""),
    )  # fmt: skip


def _record(log: Log, line: LogLine, seq: str | None) -> dict[str, str]:
    """The fields of this record only: two records may be printed into each other, told apart by their {number}."""
    fields: dict[str, str] = {}
    for later in log.after(line, count=_RECORD_LINES):
        match = _FIELD.match(later.message)
        if not match or match["seq"] != seq:
            if not match and seq is None:
                break
            continue
        if match["key"].strip() == "event severity":
            break
        fields.setdefault(match["key"].strip(), match["value"].strip())
    return fields


def _part(kind: str, fields: dict[str, str]) -> str | None:
    if kind == "pcie":
        return components.pci(fields.get("device_id", "").split(" ")[0]) or None
    for key in ("fru_text", "DIMM location"):
        value = fields.get(key, "").removeprefix("not present. ").strip()
        if value and not value.startswith("not present"):
            return value
    return None
