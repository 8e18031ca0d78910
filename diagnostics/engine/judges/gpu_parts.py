"""The boards that nvidia-smi -q and --query-gpu name, with their index, UUID, serial number and address."""

from collections.abc import Iterator, Sequence
from typing import Any

from diagnostics.engine import components
from diagnostics.engine.catalog import gpu_settings as catalog
from diagnostics.engine.judges.gpu_speaker import is_read
from diagnostics.engine.parsers import nvidia_smi, smi_csv
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from incidents.domain.hardware import PartFacts


def parts_of_query(log: Log) -> list[PartFacts]:
    """Without an index of their own, GPUs are printed in the order of their index, unless only some were asked for."""
    rows = nvidia_smi.settings(log.text)
    boards = list(dict.fromkeys(row.gpu for row in rows if row.gpu))
    attached = next((row.value for row in rows if row.path == "attached_gpus"), "")
    numbered = attached == str(len(boards))
    made = []
    for place, board in enumerate(boards):
        facts: dict[str, Any] = dict(_facts(rows, board))
        made.append(
            PartFacts(
                "gpu", str(place) if numbered else "", pci_address=components.pci(board, board=True) or "", **facts
            )
        )
    return made


def _facts(rows: Sequence[Setting], board: str) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row.gpu == board and (field := catalog.facts().get(row.path)) and is_read(row):
            yield field, row.value


def parts_of_csv(log: Log) -> list[PartFacts]:
    found: dict[str, PartFacts] = {}
    for row in smi_csv.rows(log.text):
        gpu = row.gpu
        if gpu and gpu not in found:
            facts: dict[str, Any] = {
                field: row.values[name] for name, field in catalog.facts().items() if name in row.values
            }
            facts.setdefault("uuid", row.uuid)
            found[gpu] = PartFacts("gpu", row.index, pci_address=components.pci(row.pci, board=True) or "", **facts)
    return list(found.values())
