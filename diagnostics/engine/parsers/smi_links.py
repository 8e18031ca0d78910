"""nvidia-smi nvlink -s, -e, -c, -p and topo -m.

GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-...)
         Link 0: 25 GB/s                                -s
         Link 3: <inactive>                             -s
         Link 0: CRC Errors: 0                          -e
         Link 0, P2P is supported: true                 -c
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from diagnostics.engine.parsers.recognise import TextKinds

_GPU = re.compile(r"\s*GPU (?P<index>\d+): (?P<name>.*?)(?: \(UUID: (?P<uuid>[^)]+)\))?\s*$")
_LINK = re.compile(r"\s*Link (?P<link>\d+)(?:, | ?: )(?P<rest>\S.*?)\s*$")
_COUNTER = re.compile(r"(?P<name>[A-Za-z][^:]*?)\s*:\s*(?P<value>[0-9.eE+-]+)\b")
_NONE = re.compile(r"\s*(?:NVML: )?Unable to retrieve nvlink information as all links are inactive", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """What one line says of one link: a speed or "<inactive>", or a counter with its name."""

    link: str
    state: str
    counter: str
    value: float
    number: int
    raw: str


@dataclass(slots=True)
class Board:
    index: str
    name: str
    uuid: str
    links: list[Link] = field(default_factory=list)
    all_inactive: tuple[int, str] | None = None  # the line that says so


def boards(text: str) -> list[Board]:
    found: list[Board] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _GPU.match(raw):
            found.append(Board(match["index"], match["name"], match["uuid"] or ""))
        elif found and _NONE.match(raw):
            found[-1].all_inactive = (number, raw.strip())
        elif found and (match := _LINK.match(raw)):
            found[-1].links.append(_link(match, number, raw))
    return found


def _link(match: re.Match[str], number: int, raw: str) -> Link:
    counter = _COUNTER.fullmatch(match["rest"])
    if counter is None:
        return Link(match["link"], match["rest"], "", 0, number, raw.strip())
    return Link(match["link"], "", counter["name"], _number(counter["value"]), number, raw.strip())


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


@dataclass(frozen=True, slots=True)
class Peers:
    """A row of the matrix: how this GPU reaches each other GPU (NV18, SYS, PHB ...)."""

    gpu: str
    ways: Mapping[str, str]
    number: int
    raw: str


def matrix(text: str) -> Iterator[Peers]:
    heads: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split()
        if not heads:
            heads = [cell for cell in cells if re.fullmatch(r"(?:GPU|NIC)\d+|mlx\w+", cell)] if "GPU0" in cells else []
            continue
        if cells and re.fullmatch(r"GPU\d+", cells[0]):
            ways = dict(zip(heads, cells[1:], strict=False))
            yield Peers(
                cells[0],
                {name: way for name, way in ways.items() if name.startswith("GPU") and way != "X"},
                number,
                line.strip(),
            )


def _is_links(head: str) -> bool:
    lines = head.splitlines()
    return any(_GPU.match(line) for line in lines) and any(_LINK.match(line) or _NONE.match(line) for line in lines)


_MATRIX = re.compile(r"(?m:^[ \t]*GPU0\s+(?:GPU1|NIC0|CPU Affinity|mlx))")
_MATRIX_ROW = re.compile(r"\n[ \t]*GPU0[ \t]+X\b")


def _is_matrix(head: str) -> bool:
    heading = _MATRIX.search(head)
    return heading is not None and _MATRIX_ROW.search(head, heading.end()) is not None


TEXT_KINDS: TextKinds = (
    ("nvlink", _is_links),
    ("gpu-topology", _is_matrix),
)
