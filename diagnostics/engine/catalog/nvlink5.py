"""What the registers of Xid 144 to 150 mean (nvlink5.toml), and those of Xid 74 (nvlink4.toml)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog


@dataclass(frozen=True, slots=True)
class Mask:
    """`bits` are those that the table speaks of, `value` what they must be."""

    bits: int
    value: int

    @classmethod
    def of(cls, text: str) -> "Mask":
        return cls(int("".join("0" if mark == "-" else "1" for mark in text), 2), int(text.replace("-", "0"), 2))

    def fits(self, register: int) -> bool:
        return register & self.bits == self.value


@dataclass(frozen=True, slots=True)
class Decoded:
    """What NVIDIA says of one error: `effects` here and at the peer; `immediate` and `investigate` are its action words."""

    unit: str
    severity: str
    immediate: str
    investigate: str
    effects: str

    @property
    def is_fatal(self) -> bool:
        return not self.severity.lower().startswith("non")


@dataclass(frozen=True, slots=True)
class Row:
    units: tuple[str, ...]
    masks: tuple[Mask, ...]
    status: tuple[int, ...]
    decoded: Decoded


def decode(xid: int, unit: str, intr_info: int, error_status: int) -> Decoded | None:
    """The row for exactly this status; else the worst of those whose bit is set in it; None if the table has none."""
    rows = [row for row in _rows().get(xid, ()) if any(mask.fits(intr_info) for mask in row.masks)]
    named = [row for row in rows if unit in row.units]
    for found in (named, rows):
        exact = [row for row in found if not row.status or error_status in row.status]
        partly = [row for row in found if any(status & error_status for status in row.status)]
        if told := exact or partly:
            return max(told, key=lambda row: row.decoded.is_fatal).decoded
    return None


@lru_cache(maxsize=1)
def _rows() -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in catalog.table("nvlink5.toml")["decode"]:
        found[row["xid"]].append(_row(row, row["intr"], row["immediate"]))
        if row.get("other_intr"):
            found[row["xid"]].insert(0, _row(row, row["other_intr"], row["other_immediate"]))
    return found


def _row(row: Mapping[str, Any], masks: Sequence[str], immediate: str) -> Row:
    decoded = Decoded(row["units"][0], row["severity"], immediate, row["investigate"], row["effects"])
    return Row(tuple(row["units"]), tuple(Mask.of(mask) for mask in masks), tuple(row["status"]), decoded)


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits of one register of Xid 74 (counted from 1): what they mean, and how much they weigh: fault, degraded or ignore."""

    register: int
    bits: tuple[int, ...]
    meaning: str
    weight: str


def bits_of(registers: Sequence[int]) -> list[Bits]:
    """The rows of which at least one bit is set."""
    return [
        row
        for row in _nvlink4()
        if row.register <= len(registers) and any(registers[row.register - 1] >> bit & 1 for bit in row.bits)
    ]


@lru_cache(maxsize=1)
def _nvlink4() -> tuple[Bits, ...]:
    rows = catalog.table("nvlink4.toml")["bits"]
    return tuple(Bits(row["register"], tuple(row["bits"]), row["meaning"], row["weight"]) for row in rows)
