"""What the NVLink Xids say in their registers.

149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 ...)     NVLink 5: intrInfo, errorStatus
74, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)
"""

import re
from dataclasses import dataclass

from diagnostics.engine.catalog import nvlink5
from diagnostics.engine.types import Role

NUMBERS = range(144, 151)
_FORM = re.compile(
    r"(?P<unit>[A-Z][A-Z0-9_]+)\s+(?:(?P<word>Non-?fatal|(?:Link )?Fatal)\s+)?(?:XC ?(?P<cross>\d+)\s+)?(?:i ?(?P<injected>\d+)\s+)?"
    r"(?:Link\s+(?P<link>-?\d+)\s*)?[(\[](?P<registers>[^)\]]*)",
    re.IGNORECASE,
)
_INJECTED = re.compile(r"\binjected\b(?!\s*[=:]?\s*(?:0|no|false))", re.IGNORECASE)
_WORD = re.compile(r"\b(?P<non>non-?)?fatal\b", re.IGNORECASE)
_HEX = re.compile(r"0x([0-9a-fA-F]{1,8})\b")
_LINK_ERROR = re.compile(r"on link (?P<link>\d+)\s*\((?P<registers>[^)]*)\)")


@dataclass(frozen=True, slots=True)
class Reading:
    """`fault` None: what the catalogue of Xids says stands."""

    fault: str | None = None
    role: Role | None = None
    detail: str = ""
    immediate: str = ""
    investigate: str = ""
    injected: bool = False


def of_nvlink5(xid: int, text: str) -> Reading:
    """The driver's own word comes before the table."""
    match = _FORM.search(text)
    decoded = None
    where = ""
    if match:
        registers = [int(one, 16) for one in _HEX.findall(match["registers"])]
        if registers:
            decoded = nvlink5.decode(
                xid, match["unit"].upper(), registers[0], registers[1] if len(registers) > 1 else 0
            )
        where = f"{match['unit']}, link {int(match['link'])}" if match["link"] else match["unit"]
    word = _WORD.search(text)
    fatal = not word["non"] if word else decoded.is_fatal if decoded else None
    injected = bool(says_injected(text) or (match and match["injected"] and int(match["injected"])))
    told = [
        where,
        f"{decoded.severity}, {decoded.effects}" if decoded else "",
        "injected by a test" if injected else "",
    ]
    return Reading(
        fault=None if fatal is None else "gpu.nvlink.error" if fatal else "gpu.nvlink.degraded",
        role="note" if injected else None, detail="; ".join(part for part in told if part), injected=injected,
        immediate=decoded.immediate if decoded else "", investigate=decoded.investigate if decoded else "",
    )  # fmt: skip


def says_injected(text: str) -> bool:
    return _INJECTED.search(text) is not None


def of_link_error(text: str) -> Reading:
    """Xid 74. Bits that mean nothing by themselves make it a note, an overrun count of corrected errors a degraded link."""
    match = _LINK_ERROR.search(text)
    registers = [int(one, 16) for one in _HEX.findall(match["registers"])] if match else []
    rows = nvlink5.bits_of(registers)
    if not match or not rows:
        return Reading()
    known: dict[int, int] = {}
    for row in rows:
        known[row.register] = known.get(row.register, 0) | sum(1 << bit for bit in row.bits)
    others = any(value & ~known.get(number, 0) for number, value in enumerate(registers, 1))
    weights = {row.weight for row in rows} | ({"fault"} if others else set())
    detail = f"link {match['link']}: " + "; ".join(f"register {row.register}: {row.meaning}" for row in rows)
    if "fault" in weights:
        return Reading(detail=detail)
    return Reading(fault="gpu.nvlink.degraded", role="note" if weights == {"ignore"} else None, detail=detail)
