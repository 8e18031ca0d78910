"""Machine checks and CPER records: what the processor and the firmware report through the kernel.

    mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 4: a600000000020408
    [Hardware Error]: CPU:2 (17:31:0) MC17_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-]: 0xdc2040000000011b      AMD, decoded
    STATUS 8c00004000010090 MCGSTATUS 0                                                                              mcelog
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

LITERALS = ("Machine Check", "event severity: ", "_STATUS[", " MCGSTATUS ")

_MCE = re.compile(
    r"(?:mce: )?\[Hardware Error\]: CPU (?P<cpu>\d+): Machine Check(?: Exception)?: \w+ Bank (?P<bank>\d+): (?P<status>[0-9a-f]{16})"
)
_DECODED = re.compile(
    r"(?:mce: )?\[Hardware Error\]: CPU:(?P<cpu>\d+) \([^)]*\) MC(?P<bank>\d+)_STATUS\[(?P<flags>[^\]]*)\]: 0x(?P<status>[0-9a-f]{16})"
)
_MCELOG = re.compile(r"(?:mcelog: )?STATUS (?P<status>[0-9a-f]{1,16}) MCGSTATUS")
_MCELOG_PLACE = re.compile(r"(?:mcelog: )?CPU (?P<cpu>\d+) (?:BANK )?(?P<bank>\d+)")
_AMD_MEMORY = re.compile(r"Unified Memory Controller|DRAM ECC|Memory Controller|Northbridge.*ECC")
_EVENT = re.compile(r"(?P<seq>\{\d+\})?\[Hardware Error\]: +event severity: (?P<severity>\w+)")
_FIELD = re.compile(r"(?P<seq>\{\d+\})?\[Hardware Error\]: +(?P<key>[\w ,]+?)\s*: (?P<value>.*)")
_UNCORRECTED, _VALID, _DEFERRED = 1 << 61, 1 << 63, 1 << 44
_DECODED_LINES = 8
_MCELOG_LINES = 20
_RECORD_LINES = 40
_EDAC = re.compile(r"EDAC (?:\w+ )?MC\d+: \d+ [CU]E ")

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
        if " MCGSTATUS " in found and (match := _MCELOG.match(line.message)):
            if seen := _mcelog(match, line, log, self._source_name):
                yield Hit(seen)
            return
        if not is_kernel(line) or not any(literal in found for literal in LITERALS):
            return
        seen = None
        if match := _MCE.match(line.message):
            seen = _machine_check(match, line, self._source_name)
        elif match := _DECODED.match(line.message):
            seen = _decoded(match, line, log, self._source_name)
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


def _mcelog(match: re.Match[str], line: LogLine, log: Log, source_name: str) -> Observation | None:
    """What mcelog wrote down; the processor and the bank stand some lines above."""
    status = int(match["status"], 16)
    if not status & _VALID:
        return None
    above = log.before(line, count=_MCELOG_LINES)
    place = next((found for earlier in above if (found := _MCELOG_PLACE.match(earlier.message))), None)
    corrected = not status & _UNCORRECTED
    memory = (status & 0xFFFF) & 0xEF80 == 0x0080
    kind = "correctable" if corrected else "uncorrectable"
    return observe(
        line, fault=f"host.memory.{kind}" if memory else "host.cpu.mce", source_name=source_name, signature="mcelog",
        component=f"CPU {place['cpu']}" if place and not memory else None, role="note" if corrected and not memory else "root",
        detail=f"Bank {place['bank']}" if place else "",
    )  # fmt: skip


def _decoded(match: re.Match[str], line: LogLine, log: Log, source_name: str) -> Observation | None:
    """AMD's driver says in the lines after it which unit the bank belongs to. A deferred error is one that was not corrected."""
    status = int(match["status"], 16)
    if not status & _VALID:
        return None
    uncorrected = bool(status & _UNCORRECTED or (status & _DEFERRED and "CE" not in match["flags"].split("|")))
    memory = any(_AMD_MEMORY.search(later.message) for later in log.after(line, count=_DECODED_LINES))
    kind = "uncorrectable" if uncorrected else "correctable"
    return observe(
        line, fault=f"host.memory.{kind}" if memory else "host.cpu.mce", source_name=source_name, signature="machine-check-decoded",
        component=None if memory else f"CPU {match['cpu']}", role="root" if uncorrected or memory else "note",
        detail=f"Bank {match['bank']}",
    )  # fmt: skip


def _cper(match: re.Match[str], line: LogLine, log: Log, source_name: str) -> Observation | None:
    severity = match["severity"].lower()
    if severity == "info":
        return None
    fields = _record(log, line, match["seq"])
    section = fields.get("section_type", "").lower()
    kind = "memory" if "memory" in section else "pcie" if "pcie" in section else "other"
    corrected = severity == "corrected"
    # Where EDAC speaks as well, its name for the DIMM is the one: two names would make two findings of one error.
    part = None if kind == "memory" and _edac_follows(log, line) else _part(kind, fields)
    return observe(
        line, fault=_CPER_FAULTS[kind, corrected], source_name=source_name, component=part, signature="cper",
        role="note" if kind == "other" and corrected else "root", detail=fields.get("error_type") or fields.get("section_type", ""),
    )  # fmt: skip


def _edac_follows(log: Log, line: LogLine) -> bool:
    return any(_EDAC.match(later.message) for later in log.after(line, count=_RECORD_LINES))


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
