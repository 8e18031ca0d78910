"""Codes and messages of DCGM in the lines of agents, in conditions and events of nodes.

health=FAIL system=MEM entity=GPU:7 code=DCGM_FR_UNCONTAINED_ERROR msg="GPU had an uncontained error (XID 95)."
healthd[77]: GPU 3 had uncorrectable memory errors and row remapping failed. Run a field diagnostic on the GPU.
GpuMemWatch  True  ...  ErrorCode:DCGM_FR_ROW_REMAP_FAILURE GPU:3 PCI:0000:61:00.0 GPU 3 had ... Recommended Action=CONTACT_SUPPORT;
"""

import re
from collections.abc import Iterator

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.catalog.dcgm import DcgmError
from diagnostics.engine.judges import components
from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check, Role
from incidents.domain import faults

_CODES = "DCGM_FR_"
# Words of its messages that no other program uses.
_MESSAGES = (
    "row remappings are pending", "and row remapping failed", "uncorrectable row remap limit", "had an uncontained error",
    "had a contained error", "volatile double-bit ECC error", "PCIe replays per minute", "running at PCI link", "running at PCIe link",
    "retired pages due to DBEs", "retired pages have been detected", "faulty memory elements", "SRAM threshold count exceeded",
    "requires a reset to recover", "reliably read the power usage", "NvLinks are up out of the expected",
)  # fmt: skip
LITERALS = (_CODES, *_MESSAGES)

_CODE = re.compile(r"\bDCGM_FR_(?P<name>[A-Z][A-Z0-9_]{2,60})")
_GPU = re.compile(r"\bGPU(?:\s?(?:ID)?[:=#]\s?|\s)(?P<gpu>\d{1,3})\b", re.IGNORECASE)
_PCI = re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b", re.IGNORECASE)
_UUID = re.compile(r"\bGPU-[0-9a-f]{8}-[0-9a-f-]{20,30}\b", re.IGNORECASE)
_SWITCH = re.compile(r"\bNv-?Switch(?:\s?[:=#]\s?|\s)(?P<switch>\d{1,3})\b", re.IGNORECASE)
_XID = re.compile(r"XID:?\s?(\d{1,3})\b", re.IGNORECASE)
_WELL = re.compile(
    r"\b(?:health\w*=(?:pass|ok|healthy)|is_?healthy[\"':= ]{1,4}true|cleared|resolved|recovered|no longer|back to healthy)\b",
    re.IGNORECASE,
)


def component_of(text: str) -> str | None:
    """The address is the better name; then the index, the UUID, the switch."""
    if match := _PCI.search(text):
        return components.pci(match.group(), board=True)
    if match := _GPU.search(text):
        return f"GPU {match['gpu']}"
    if match := _UUID.search(text):
        return match.group()
    match = _SWITCH.search(text)
    return f"NvSwitch {match['switch']}" if match else None


def fault_of(error: DcgmError, text: str) -> str:
    """A code that stands for an Xid has the fault of the Xid that its message names."""
    if error.fault:
        return error.fault
    xid = _XID.search(text)
    return faults.xid(int(xid.group(1))).fault if xid else "gpu.diag.failed"


def codes(text: str) -> list[DcgmError]:
    known = catalog.by_name()
    return [known[name] for name in _names(text) if name in known]


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(match["name"] for match in _CODE.finditer(text[:4000])))


class DcgmCodes:
    """The judge of such lines: without a part beside it a code stands in a list or a program, not in a report."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._unread: LogLine | None = None

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not any(literal in found for literal in LITERALS):
            return
        component = component_of(line.message)
        if not component:
            return
        over = bool(_WELL.search(line.message))
        if not over and any(name not in catalog.by_name() for name in _names(line.message)):
            self._unread = self._unread or line
        said = catalog.of_message(line.message) if _CODES not in found else None
        for error in [said] if said else codes(line.message):
            role: Role = "note" if over else error.role
            yield Hit(
                observe(
                    line, fault=fault_of(error, line.message), source_name=self._source_name, role=role, component=component,
                    signature=f"dcgm-{error.name}", authorities={"dcgm": error.severity},
                )
            )  # fmt: skip

    def gaps(self) -> list[Check]:
        """A code that is not in the catalogue must not pass for clean."""
        if self._unread is None:
            return []
        reason = f"line {self._unread.number} names a code of DCGM that is not known: {self._unread.raw[:120]}"
        return [Check("DCGM codes", (), "could_not_check", reason, is_sign=True)]
