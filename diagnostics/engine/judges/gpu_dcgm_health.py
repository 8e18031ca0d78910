"""dcgmi health, as a table and as JSON: which system of which GPU is unwell, and why."""

import re
from collections.abc import Iterator
from dataclasses import replace

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.judges.gpu_dcgm_messages import GPU, flat, of_message, say
from diagnostics.engine.parsers import dcgm as parser
from diagnostics.engine.parsers.dcgm import Cell
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_SYSTEM = re.compile(r"(?:^|[>\s])(?P<system>[A-Za-z][\w-]*(?: (?:non-)?fatal)?) (?:system|health)?\s*$", re.IGNORECASE)
_UNWELL = re.compile(r"\s*(?:Failure|Warning)\b", re.IGNORECASE)


def health(log: Log, *, source_name: str) -> list[Observation]:
    """Reads both tables: of DCGM 1 and 2 ("GPU ID: 0 | Warning") and of 3 and 4 ("-> 0 | Healthy")."""
    gpu, group = "", ""
    found: list[Observation] = []
    system: tuple[Cell, str] | None = None
    for cell in _health_cells(log.text):
        name = cell.name.strip(" ->:")
        if match := re.search(r"(?:GPU ID:?|->)\s*(\d+)$", cell.name.strip()):
            gpu, group = (match.group(1), group or "GPU")
        elif name.upper() in ("GPU", "NVSWITCH", "CPU"):
            group = name.upper()
        owner = gpu if group in ("", "GPU") else f"NvSwitch {gpu}" if group == "NVSWITCH" and gpu else ""
        message = catalog.of_message(cell.text)
        if message and not _UNWELL.fullmatch(cell.text):
            found += _told(cell, owner, source_name)
            system = None
        elif (which := _system(cell)) and _UNWELL.search(cell.text.split(":")[-1] if ":" in cell.text else cell.text):
            found += _unnamed(system, owner, source_name)
            system = (cell, which)
    return found + list(_unnamed(system, gpu, source_name))


def _health_cells(text: str) -> list[Cell]:
    return [cell for cell in parser.cells(text) if not cell.name.lower().startswith("overall")]


def _told(cell: Cell, gpu: str, source_name: str) -> Iterator[Observation]:
    text = flat(cell.text)
    number = GPU.search(text)
    line = EvidenceLine(cell.number, cell.raw)
    yield from of_message(text, None, number.group(1) if number else gpu, line, source_name)


def _system(cell: Cell) -> str:
    for text in (cell.name, cell.text.split(":")[0]):
        match = _SYSTEM.search(text.strip() + ("" if text.strip().endswith(("system", "health")) else " system"))
        if match and match["system"].lower() in catalog.systems():
            return match["system"].lower()
    return ""


def _unnamed(system: tuple[Cell, str] | None, gpu: str, source_name: str) -> Iterator[Observation]:
    if system:
        cell, which = system
        seen = say(
            catalog.systems()[which],
            gpu,
            EvidenceLine(cell.number, cell.raw),
            source_name,
            detail=f"{which}: no reason is printed",
        )
        yield replace(seen, confidence="medium")


def health_json(document: JsonText, *, source_name: str) -> list[Observation]:
    found: list[Observation] = []
    unwell: dict[tuple[str, ...], Observation] = {}
    for entry in parser.entries(document.value):
        gpu = entry.path[1] if len(entry.path) > 1 and entry.path[0].upper() == "GPU" else ""
        line = document.line_of(entry.value) or document.locate(entry.path[-1])
        if seen := of_message(entry.value, None, gpu, line, source_name):
            found += seen
            unwell = {path: one for path, one in unwell.items() if path[:2] != entry.path[:2]}
        elif _UNWELL.match(entry.value) and (which := _system(Cell(entry.path[-1], "", 0, ""))):
            line = document.locate(entry.path[-1])
            unwell[entry.path] = replace(
                say(catalog.systems()[which], gpu, line, source_name, detail=which), confidence="medium"
            )
    return found + list(unwell.values())
