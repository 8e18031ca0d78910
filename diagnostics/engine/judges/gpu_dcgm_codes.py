"""Codes and messages of DCGM in the lines of agents, in conditions and events of nodes.

health=FAIL system=MEM entity=GPU:7 code=DCGM_FR_UNCONTAINED_ERROR msg="GPU had an uncontained error (XID 95)."
healthd[77]: GPU 3 had uncorrectable memory errors and row remapping failed. Run a field diagnostic on the GPU.
GpuMemWatch  True  ...  ErrorCode:DCGM_FR_ROW_REMAP_FAILURE GPU:3 PCI:0000:61:00.0 GPU 3 had ... Recommended Action=CONTACT_SUPPORT;
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.catalog.dcgm import DcgmError
from diagnostics.engine.judges import gpu_mentions, gpu_xid_reasons
from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check

_CODES = "DCGM_FR_"


@lru_cache(maxsize=1)
def literals() -> frozenset[str]:
    return frozenset((_CODES, *catalog.literals()))


_CODE = re.compile(r"\bDCGM_FR_(?P<name>[A-Z][A-Z0-9_]{2,60})")
_NVRM = "NVRM:"  # what the driver says is read as the driver's


class Said(NamedTuple):
    """`fields` as an Observation has them, but for its fault."""

    fault: str
    fields: dict[str, Any]


def said_by(error: DcgmError, text: str) -> list[Said]:
    """A code that stands for an Xid means what the Xid means that its message names; a test that one ended has failed, whatever it is."""
    own = {"role": error.role, "signature": f"dcgm-{error.name}", "authorities": {"dcgm": error.severity}}
    if error.fault:
        return [Said(error.fault, own)]
    named = gpu_xid_reasons.named(text)[:1]
    found = [
        Said(one.means.fault, one.means.fields() | {"authorities": {"dcgm": error.severity, **one.means.authorities}})
        for one in named
    ]
    is_told = any(one.means.role == "root" for one in named)
    return found if is_told else [*found, Said("gpu.diag.failed", own)]


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
        if _NVRM in line.message or literals().isdisjoint(found):
            return
        component = gpu_mentions.component_of(line.message)
        if not component:
            return
        over = gpu_mentions.is_over(line.message)
        if not over and any(name not in catalog.by_name() for name in _names(line.message)):
            self._unread = self._unread or line
        for error in self._errors(line, found):
            for fault, fields in said_by(error, line.message):
                seen = observe(line, fault=fault, source_name=self._source_name, component=component, **fields)
                yield Hit(replace(seen, role="note") if over else seen)

    @staticmethod
    def _errors(line: LogLine, found: tuple[str, ...]) -> list[DcgmError]:
        if _CODES in found:
            return codes(line.message)
        said = catalog.in_line(line.message)
        if said is None or gpu_mentions.is_denied(line.message, line.message.find(said.literal)):
            return []
        is_xid = gpu_xid_reasons.told(line.raw, is_dated=line.moment.at is not None)  # the number says it better
        return [] if is_xid else [said]

    def gaps(self) -> list[Check]:
        """A code that is not in the catalogue must not pass for clean."""
        if self._unread is None:
            return []
        reason = f"line {self._unread.number} names a code of DCGM that is not known: {self._unread.raw[:120]}"
        return [Check("DCGM codes", (), "could_not_check", reason, is_sign=True)]
