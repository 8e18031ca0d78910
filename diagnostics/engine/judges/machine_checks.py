"""Machine checks and CPER records: what the processor and the firmware report through the kernel.

    mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 4: a600000000020408
    [Hardware Error]: CPU:2 (17:31:0) MC17_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-]: 0xdc2040000000011b      AMD, decoded
    STATUS 8c00004000010090 MCGSTATUS 0                                                                              mcelog
    {35}[Hardware Error]: event severity: corrected
    {35}[Hardware Error]:   section_type: memory error
    Uncorrected error                                            mcelog, without its STATUS line
    7 2024-05-06 07:08:09 +0000 error: ... mcgcap=0x0f000c1c, status=0x8c00004200800090                              rasdaemon
    Injecting memory failure at pfn 0x10d88e                                                                         a test, not a fault

Status bits: Intel SDM volume 3B, chapter "Machine-Check Architecture" (63 valid, 61 uncorrected; low 16 bits the error code,
of which 0000 0000 1xxx xxxx is the memory controller). CPER: UEFI specification, appendix N.
"""

import re
from collections.abc import Iterator

from diagnostics.engine import catalog, components
from diagnostics.engine.judges.signatures import is_kernel, observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Observation

LITERALS = (
    "Machine Check", "event severity: ", "_STATUS[", " MCGSTATUS ", "Uncorrected error", "mcgcap=", "emory failure: 0x",
    "Injecting memory failure",
)  # fmt: skip

_MCE = re.compile(
    r"(?:mce: )?\[Hardware Error\]: CPU (?P<cpu>\d+): Machine Check(?P<exception> Exception)?: \w+ Bank (?P<bank>\d+)"
    r"(?:: (?P<status>[0-9a-f]{16})|\s*$)"
)
_DECODED = re.compile(
    r"(?:mce: )?\[Hardware Error\]: CPU:(?P<cpu>\d+) \([^)]*\) MC(?P<bank>\d+)_STATUS\[(?P<flags>[^\]]*)\]: 0x(?P<status>[0-9a-f]{16})"
)
_MCELOG = re.compile(r"(?:mcelog: )?STATUS (?P<status>[0-9a-f]{1,16}) MCGSTATUS")
_MCELOG_UNCORRECTED = re.compile(r"(?:mcelog: )?Uncorrected error\s*$")
_MCELOG_MEMORY = re.compile(r"(?:mcelog: )?(?:MCA: )?MEMORY CONTROLLER")
_RASDAEMON = re.compile(r".*\bmcgcap= ?(?:0x)?[0-9a-f]+\b.*?\bstatus= ?(?:0x)?(?P<status>[0-9a-f]{16})\b")
_RASDAEMON_REVERSE = re.compile(r".*\bstatus= ?(?:0x)?(?P<status>[0-9a-f]{16})\b.*\bmcgcap=")
_RASDAEMON_CPU = re.compile(r"\bcpu= ?(?P<cpu>0x[0-9a-f]+|\d+)\b")
_INJECTING = re.compile(r"Injecting memory failure (?:at|for) pfn (?P<pfn>0x[0-9a-f]+)")
_FAILURE = re.compile(r"(?:mce: )?Memory failure: (?P<pfn>0x[0-9a-f]+):")
_MCELOG_PLACE = re.compile(r"(?:mcelog: )?CPU (?P<cpu>\d+) (?:BANK )?(?P<bank>\d+)")
_AMD_MEMORY = re.compile(r"Unified Memory Controller|DRAM ECC|Memory Controller|Northbridge.*ECC")
_EVENT = re.compile(r"(?P<seq>\{\d+\})?\[Hardware Error\]: +event severity: (?P<severity>\w+)")
_FIELD = re.compile(r"(?P<seq>\{\d+\})?\[Hardware Error\]: +(?P<key>[\w ,]+?)\s*: (?P<value>.*)")
_UNCORRECTED, _VALID, _DEFERRED = 1 << 61, 1 << 63, 1 << 44
_FAILED_PAGES = ("memory-failure",)  # the signature that every such line has
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
        self._injected: set[str] = set()

    @staticmethod
    def literals() -> tuple[str, ...]:
        return LITERALS

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if " MCGSTATUS " in found and (match := _MCELOG.match(line.message)):
            if seen := _mcelog(match, line, log, self._source_name):
                yield Hit(seen)
            return
        if match := _MCELOG_UNCORRECTED.match(line.message):
            if seen := _mcelog_words(line, log, self._source_name):
                yield Hit(seen)
            return
        if "mcgcap=" in found:
            if seen := _rasdaemon(line, self._source_name):
                yield Hit(seen)
            return
        if not is_kernel(line) or not any(literal in found for literal in LITERALS):
            return
        if match := _INJECTING.match(line.message):
            self._injected.add(match["pfn"])
            return
        if match := _FAILURE.match(line.message):
            if match["pfn"] in self._injected:
                yield Hit(
                    observe(line, fault="host.memory.uncorrectable", source_name=self._source_name, role="note"),
                    clears=_FAILED_PAGES,
                )
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
    if match["status"] is None:  # cut off: an exception is for what was not corrected
        if not match["exception"]:
            return None
        return observe(
            line, fault="host.cpu.mce", source_name=source_name, component=f"CPU {match['cpu']}", signature="machine-check",
            confidence="medium", detail=f"Bank {match['bank']}",
        )  # fmt: skip
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
    # A machine check in the first seconds is what the firmware kept from before the boot: it tells why the boot was needed.
    old = line.moment.uptime_s is not None and line.moment.uptime_s < catalog.thresholds()["host"]["old_until_s"]
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


def _mcelog_words(line: LogLine, log: Log, source_name: str) -> Observation | None:
    """An mcelog record whose status is only there in words; where its STATUS line follows, that one speaks."""
    later = [one.message for one in log.after(line, count=_MCELOG_LINES)]
    end = next((at for at, text in enumerate(later) if text.startswith(("MCE ", "Hardware event."))), len(later))
    if any(_MCELOG.match(text) for text in later[:end]):
        return None
    place = next(
        (found for one in log.before(line, count=_MCELOG_LINES) if (found := _MCELOG_PLACE.match(one.message))), None
    )
    if not place:
        return None
    memory = any(_MCELOG_MEMORY.match(text) for text in later[:end])
    return observe(
        line, fault="host.memory.uncorrectable" if memory else "host.cpu.mce", source_name=source_name, signature="mcelog",
        component=None if memory else f"CPU {place['cpu']}", detail=f"Bank {place['bank']}",
    )  # fmt: skip


def _rasdaemon(line: LogLine, source_name: str) -> Observation | None:
    """One record of rasdaemon's; where AMD's decoder has named the channel, the catalogue's signatures have read it."""
    match = _RASDAEMON.match(line.message) or _RASDAEMON_REVERSE.match(line.message)
    if not match or "csrow=" in line.message:
        return None
    status = int(match["status"], 16)
    if not status & _VALID:
        return None
    corrected = not status & _UNCORRECTED
    memory = (status & 0xFFFF) & 0xEF80 == 0x0080
    cpu = _RASDAEMON_CPU.search(line.message)
    kind = "correctable" if corrected else "uncorrectable"
    return observe(
        line, fault=f"host.memory.{kind}" if memory else "host.cpu.mce", source_name=source_name, signature="rasdaemon-mce",
        component=f"CPU {int(cpu['cpu'], 0)}" if cpu and not memory else None, role="note" if corrected and not memory else "root",
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
