"""nvidia-smi --query-gpu=..., --query-remapped-rows, --query-retired-pages, --query-compute-apps with --format=csv.

index, pci.bus_id, ecc.errors.uncorrected.volatile.total, power.draw [W]
0, 00000000:1B:00.0, 0, 70.30 W

Without its header a row tells only its special values: 1, 00000000:43:00.0, [GPU is lost], [GPU is lost]
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.parsers.recognise import TextKinds

_COLUMN = re.compile(r"[A-Za-z][\w.]*(?: \[[^\],]{1,12}\])?")
_PCI = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]")
_UUID = re.compile(r"(?:GPU|MIG)-[0-9a-fA-F-]{8,}")
_KNOWN = re.compile(
    r"(?:gpu_)?(?:uuid|bus_id|serial|name|index)|index|name|count|driver_version|pci\.\w+|timestamp|memory\.\w+|utilization\.\w+|"
    r"temperature\.\w+|power\.\w+|clocks\w*\.[\w.]+|ecc\.[\w.]+|pcie\.[\w.]+|remapped_rows\.\w+|retired_pages\.[\w.]+|mig\.[\w.]+|"
    r"fabric\.[\w.]+|pstate|fan\.speed|used_gpu_memory|used_memory|process_name|compute_mode|compute_cap|persistence_mode"
)


@dataclass(frozen=True, slots=True)
class Row:
    """`values` by column name in lower case, without its unit; by number where there was no header."""

    values: Mapping[str, str]
    number: int
    raw: str

    @property
    def pci(self) -> str:
        return next((value for value in self.values.values() if _PCI.fullmatch(value)), "")

    @property
    def uuid(self) -> str:
        return next((value for value in self.values.values() if _UUID.fullmatch(value)), "")

    @property
    def index(self) -> str:
        return self.values.get("index") or self.values.get("gpu_index") or ""

    @property
    def gpu(self) -> str:
        return self.pci or (f"GPU {self.index}" if self.index else self.uuid)


@lru_cache(maxsize=2)
def rows(text: str) -> tuple[Row, ...]:
    return tuple(_rows(text))


def _rows(text: str) -> Iterator[Row]:
    columns: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if not raw.strip():
            continue
        if asked := _asked(raw):
            columns = asked
            continue
        if raw.lstrip()[:1].isalpha() and (names := _header(raw)):
            columns = names
            continue
        cells = [cell.strip() for cell in raw.split(",")]
        if columns and len(cells) == len(columns):
            yield Row(dict(zip(columns, cells, strict=True)), number, raw.strip())
        elif len(cells) > 1:
            yield Row({str(n): cell for n, cell in enumerate(cells)}, number, raw.strip())


@lru_cache(maxsize=2)
def settings(text: str) -> tuple[Setting, ...]:
    """The cells as settings: `ecc.errors.uncorrected.volatile.total` -> `ecc/errors/uncorrected/volatile/total`."""
    return tuple(one for row in rows(text) for one in _settings_of(row, row.gpu))


def _settings_of(row: Row, gpu: str) -> Iterator[Setting]:
    for name, value in row.values.items():
        yield Setting(gpu, name.replace(".", "/"), value, row.number, row.raw)


_COMMAND = re.compile(r"\bnvidia-smi\b.*--query-[\w-]+[= ][\"']?(?P<columns>\w[\w.,]+)")


def _asked(line: str) -> list[str]:
    """The columns that the command above a print without a header asked for."""
    match = _COMMAND.search(line[:2000]) if "--query-" in line and "noheader" in line else None
    return [name.lower() for name in match["columns"].split(",")] if match else []


def _header(line: str) -> list[str]:
    names = [name.strip() for name in line.split(",")]
    if not all(_COLUMN.fullmatch(name) for name in names):
        return []
    plain = [name.split(" [")[0].lower() for name in names]
    known = sum(_KNOWN.fullmatch(name) is not None for name in plain)
    return plain if known * 2 >= len(plain) and known >= min(2, len(plain)) else []


def _has_header(head: str) -> bool:
    """On the first line, or below the command that was pasted with it."""
    first = [line for line in head[:8000].splitlines() if line.strip()][:2]
    names = next((found for line in first if (found := _header(line) or _asked(line))), [])
    if len(first) > 1 and not (_header(first[0]) or _asked(first[0])) and "nvidia-smi" not in first[0]:
        return False
    return len(names) > 1 or (len(names) == 1 and "." in names[0])


def _has_rows(head: str) -> bool:
    """No header: each line is cells, one of them the address or the UUID of a GPU."""
    lines = [line for line in head.splitlines() if line.strip()]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines[:64]]
    return bool(cells) and all(
        len(row) > 1 and any(_PCI.fullmatch(cell) or _UUID.fullmatch(cell) for cell in row) for row in cells
    )


TEXT_KINDS: TextKinds = (("nvidia-smi-csv", _has_header), ("nvidia-smi-csv-bare", _has_rows))
