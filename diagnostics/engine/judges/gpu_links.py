"""NVLinks as nvidia-smi nvlink and topo -m print them, and dcgmi nvlink."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from diagnostics.engine import catalog
from diagnostics.engine.catalog import profiles
from diagnostics.engine.parsers import smi_links
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.smi_links import Board, Link
from diagnostics.engine.types import Confidence, EvidenceLine, Observation, Role
from incidents.domain.hardware import PartFacts

_DOWN = re.compile(r"<?inactive>?|down\b|<?disabled>?", re.IGNORECASE)
_SPEED = re.compile(r"(\d+(?:\.\d+)?) GB/s")


def judge(log: Log, *, source_name: str) -> list[Observation]:
    boards = smi_links.boards(log.text)
    found = [seen for board in boards for seen in _states(board, boards, source_name)]
    return found + [seen for board in boards for seen in _counters(board, source_name)]


def _states(board: Board, boards: Sequence[Board], source_name: str) -> Iterator[Observation]:
    """Some links up and some not: a fault. None at all: a board without a bridge or a single GPU, unless its neighbours have some."""
    states = [
        link for link in board.links if not link.counter and (_DOWN.match(link.state) or _SPEED.match(link.state))
    ]
    down = [link for link in states if _DOWN.match(link.state)]
    if down and len(down) < len(states):
        yield _say("gpu.nvlink.error", board, down[0].number, down[0].raw, source_name, count=len(down))
    elif board.all_inactive or down:
        number, raw = board.all_inactive or (down[0].number, down[0].raw)
        if any(_is_linked(other) for other in boards):
            yield _say("gpu.nvlink.error", board, number, raw, source_name, detail="other GPUs have links")
        elif (len(boards) > 1 or board.index != "0") and _is_on_baseboard(board):
            yield _say(
                "gpu.nvlink.error", board, number, raw, source_name, confidence="medium", detail="no GPU has a link"
            )
    yield from _slow(board, states, source_name)


def _is_on_baseboard(board: Board) -> bool:
    """With switches: for it "all links are inactive" is no missing bridge."""
    known = profiles.gpu(board.name)
    return known is not None and known.baseboard


def _slow(board: Board, states: Sequence[Link], source_name: str) -> Iterator[Observation]:
    known = profiles.gpu(board.name)
    speeds = {link: float(match.group(1)) for link in states if (match := _SPEED.match(link.state))}
    most = max(*speeds.values(), (known and known.link_gb_s) or 0, 0)
    slow = [link for link, speed in speeds.items() if 0 < speed < most]
    if slow:
        detail = f"others have {most:g} GB/s"
        yield _say(
            "gpu.nvlink.degraded", board, slow[0].number, slow[0].raw, source_name, count=len(slow), detail=detail
        )


def _is_linked(board: Board) -> bool:
    return any(_SPEED.match(link.state) for link in board.links)


def _counters(board: Board, source_name: str) -> Iterator[Observation]:
    """The links' worst counter of each kind. Counters run since the driver was loaded, so that few CRC errors prove nothing."""
    limits = catalog.thresholds()["gpu_nvlink"]
    worst: dict[str, Link] = {}
    for link in board.links:
        if link.counter and link.value and link.value > worst.get(_kind(link), _NOTHING).value:
            worst[_kind(link)] = link
    for kind, link in worst.items():
        limit = next((float(least) for name, least in limits["degraded_from"].items() if re.search(name, kind)), None)
        role: Role = "root" if limit is not None and link.value >= limit else "note"
        if limit is not None or kind in limits["notes"]:
            yield _say(
                "gpu.nvlink.degraded", board, link.number, link.raw, source_name, role=role, detail=f"link {link.link}"
            )


_NOTHING = Link("", "", "", 0.0, 0, "")


def _kind(link: Link) -> str:
    return re.sub(r"\s+", " ", link.counter.lower())


def _say(
    fault: str, board: Board, number: int, raw: str, source_name: str, *, role: Role = "root", confidence: Confidence = "high",
    count: int = 1, detail: str = "",
) -> Observation:  # fmt: skip
    return Observation(
        fault, EvidenceLine(number, raw), source_name, role=role, component=f"GPU {board.index}", confidence=confidence, count=count,
        detail=detail, order=number,
    )  # fmt: skip


def parts(log: Log) -> list[PartFacts]:
    return [
        PartFacts("gpu", board.index, model=board.name, uuid=board.uuid)
        for board in smi_links.boards(log.text)
        if board.uuid
    ]


def judge_matrix(log: Log, *, source_name: str) -> list[Observation]:
    """A GPU that reaches fewer others over NVLink than its neighbours do is worth a look, no more: bridges join pairs."""
    rows = list(smi_links.matrix(log.text))
    linked = {row.gpu: sum(way.startswith("NV") for way in row.ways.values()) for row in rows}
    usual, often = Counter(linked.values()).most_common(1)[0] if linked else (0, 0)
    return [
        Observation(
            "gpu.nvlink.degraded", EvidenceLine(row.number, row.raw), source_name, role="note", confidence="low",
            component=f"GPU {row.gpu.removeprefix('GPU')}", detail=f"NVLink to {linked[row.gpu]} GPUs, others to {usual}", order=row.number,
        )
        for row in rows
        if linked[row.gpu] < usual and often > 1
    ]  # fmt: skip
