"""The cells of nvidia-smi's table, and of its lists of GPUs and MIG instances."""

import re
from collections.abc import Iterator, Sequence

from diagnostics.engine import components
from diagnostics.engine.catalog import profiles
from diagnostics.engine.judges import gpu_peers
from diagnostics.engine.judges.gpu_speaker import Speaker, limits_of_gpu
from diagnostics.engine.parsers import smi_lists, smi_table
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.parsers.smi_table import Board, Row
from diagnostics.engine.types import Confidence, EvidenceLine, Observation, Role
from incidents.domain.hardware import PartFacts

_UNREAD = re.compile(r"ERR!|Unknown Error")
_LOST = re.compile(r"GPU is lost|GPU requires reset|Requires reset")
_WAITS = re.compile(r"\b(?:En|Dis)abled\*")
_TEMPERATURE = re.compile(r"\s(?P<value>\d{1,3})C\s")


def judge(log: Log, *, source_name: str) -> list[Observation]:
    boards = smi_table.boards(log.text)
    found = [seen for board in boards for seen in _of(board, source_name)] + list(
        _without_persistence(boards, source_name)
    )
    say = Speaker(source_name)
    gpu_peers.judge({board.pci: list(_readings(board)) for board in boards}, say)
    found += say.found
    if row := smi_table.without_mig_devices(log.text):
        found.append(
            _say("gpu.mig.misconfigured", row, None, source_name, role="note", detail="MIG is on, without instances")
        )
    return found


_READINGS = (
    ("power/draw", re.compile(r"\b(?P<value>\d+)W\s*/")),
    ("memory/used", re.compile(r"\b(?P<value>\d+)MiB\s*/")),
    ("utilization/gpu", re.compile(r"\|\s*(?P<value>\d+)%\s+\w")),
)


def _readings(board: Board) -> Iterator[Setting]:
    yield Setting(board.pci, "name", board.name, board.first.number, board.first.raw)
    for path, pattern in _READINGS:
        if match := pattern.search(board.readings.raw):
            yield Setting(board.pci, path, match["value"], board.readings.number, board.readings.raw)


def _without_persistence(boards: Sequence[Board], source_name: str) -> Iterator[Observation]:
    """A mode that nobody turned on is no fault; one GPU without what its neighbours have is."""
    off = [board for board in boards if board.persistence == "Off"]
    if len(boards) >= limits_of_gpu()["peers"] and len(off) * 3 <= sum(board.persistence == "On" for board in boards):
        for board in off:
            component = components.pci(board.pci, board=True)
            yield _say(
                "gpu.config", board.first, component, source_name, detail="persistence mode is off, on for the others"
            )


def _of(board: Board, source_name: str) -> Iterator[Observation]:
    component = components.pci(board.pci, board=True)
    text = f"{board.first.raw}\n{board.readings.raw}"
    unread = len(_UNREAD.findall(text))
    row = board.readings if _UNREAD.search(board.readings.raw) or _LOST.search(board.readings.raw) else board.first
    if _LOST.search(text):
        yield _say("gpu.lost", row, component, source_name)
    elif unread >= limits_of_gpu()["unread_cells"]:
        yield _say(
            "gpu.lost", row, component, source_name, confidence="medium", detail=f"{unread} cells cannot be read"
        )
    elif unread:
        yield _say(
            "gpu.lost", row, component, source_name, role="note", confidence="low", detail="one cell cannot be read"
        )
    if re.fullmatch(r"[1-9]\d*", board.errors):
        yield _say("gpu.ecc.uncorrectable", board.first, component, source_name, signature="smi-table-uncorrected")
    yield from _too_hot(board, component, source_name)
    if _WAITS.search(board.modes.raw):
        yield _say("gpu.mig.misconfigured", board.modes, component, source_name, detail="the mode waits for a reset")


def _too_hot(board: Board, component: str | None, source_name: str) -> Iterator[Observation]:
    """The table has no limits; where the board begins to slow down, its profile knows."""
    known, shown = profiles.gpu(board.name), _TEMPERATURE.search(board.readings.raw)
    if known and known.slowdown_c and shown and int(shown["value"]) >= known.slowdown_c:
        detail = f"{shown['value']} C, slowdown at {known.slowdown_c:g} C"
        yield _say("gpu.thermal.slowdown", board.readings, component, source_name, confidence="medium", detail=detail)


def _say(
    fault: str, row: Row, component: str | None, source_name: str, *, role: Role = "root", confidence: Confidence = "high",
    detail: str = "", signature: str = "",
) -> Observation:  # fmt: skip
    return Observation(
        fault, EvidenceLine(row.number, row.raw), source_name, role=role, component=component, confidence=confidence, detail=detail,
        order=row.number, signature=signature,
    )  # fmt: skip


def parts_of_table(log: Log) -> list[PartFacts]:
    return [
        PartFacts(
            "gpu", board.index, model=board.name, pci_address=components.pci(board.pci, board=True) or "",
            attributes={"line": board.first.number, "text": board.first.raw},
        )
        for board in smi_table.boards(log.text)
    ]  # fmt: skip


def parts_of_list(log: Log) -> list[PartFacts]:
    return [
        PartFacts("gpu", one.index, model=one.name, uuid=one.uuid, attributes={"line": one.number, "text": one.raw})
        for one in smi_lists.gpus(log.text)
    ]
