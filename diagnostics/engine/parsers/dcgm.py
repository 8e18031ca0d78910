"""What dcgmi prints: diag and health (tables and JSON), nvlink -s, discovery -l, dmon. Cells are wrapped in the middle of words.

| Error                     | GPU 3 has uncorrectable memory errors and row  |
|                           |  remappings are pending                        |
{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "pcie", "results": [{"entity_id": 0, "status": "Fail", ...}]}]}]}}
{"body": {"GPU": {"children": {"0": {"children": {...}, "value": "Failure"}}}, "Overall Health": {"value": "Failure"}}, "header": [...]}
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches

_ROW = re.compile(r"\|(?P<name>[^|]{8,60})\|(?P<cell>[^|]*)\|?\s*$")
_STATUS = re.compile(r"\s*(?:GPU\s?\d+: )?(?:Pass|Fail|Skip|Warn|Healthy|Failure|Warning)\b")


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of the table, its text joined; `number` and `raw` are those of the line where it starts."""

    name: str
    text: str
    number: int
    raw: str


def cells(text: str) -> list[Cell]:
    found: list[Cell] = []
    for number, raw in enumerate(text.splitlines(), 1):
        match = _ROW.match(raw.strip())
        if not match:
            continue
        name, cell = match["name"].strip(), match["cell"][1:]
        starts_anew = name or _STATUS.match(cell)
        if starts_anew or not found:
            found.append(Cell(name or (found[-1].name if found else ""), cell, number, raw.strip()))
        else:
            last = found[-1]
            found[-1] = Cell(last.name, _joined(last.text, cell), last.number, last.raw)
    return found


def _joined(first: str, second: str) -> str:
    """The printer pads each line with two blanks; a third is the text's own, none means that a word was cut."""
    return first.removesuffix("  ") + second


@dataclass(frozen=True, slots=True)
class Message:
    """`number` is DCGM's error code, None if the version does not print it."""

    text: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """One test on one GPU (or on the node: `gpu` ""), as the JSON of DCGM 2, 3 or 4 has it."""

    test: str
    gpu: str
    status: str
    messages: tuple[Message, ...]


_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")


def results(document: Any) -> Iterator[Result]:
    root: Any = next((document[name] for name in _ROOTS if name in document), {})
    for category in _list(root, "test_categories"):
        for test in _list(category, "tests"):
            for result in _list(test, "results"):
                yield _result(str(test.get("name", "")), result)
    if isinstance(root, dict) and (error := root.get("runtime_error")):
        yield Result("runtime", "", "Error", (Message(str(error), None),))


def _result(test: str, result: dict[str, Any]) -> Result:
    is_gpu = str(result.get("entity_group", "GPU")).upper() == "GPU"
    gpu = next((result[name] for name in ("gpu_id", "gpu_ids", "entity_id") if name in result), "") if is_gpu else ""
    return Result(test, str(gpu), str(result.get("status", "")), tuple(_messages(result)))


def _messages(result: dict[str, Any]) -> Iterator[Message]:
    for name in ("warnings", "errors", "error", "warning"):
        told = result.get(name) or []
        for one in told if isinstance(told, list) else [told]:
            if isinstance(one, dict):
                number = one.get("error_id", one.get("code"))
                text = next((one[key] for key in ("warning", "error", "message", "msg") if key in one), "")
                yield Message(str(text), number if isinstance(number, int) and not isinstance(number, bool) else None)
            else:
                yield Message(str(one), None)


def _list(value: Any, name: str) -> Iterator[dict[str, Any]]:
    rows = value.get(name) if isinstance(value, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict):
            yield row


@dataclass(frozen=True, slots=True)
class Entry:
    """A leaf of dcgmi's general JSON, with the names above it: ("GPU", "1", "Errors", "NVLINK system") = "Failure"."""

    path: tuple[str, ...]
    value: str


def entries(document: Any) -> Iterator[Entry]:
    yield from _entries(document.get("body"), ())


def _entries(value: Any, path: tuple[str, ...]) -> Iterator[Entry]:
    if not isinstance(value, dict):
        return
    for name, child in value.items():
        if isinstance(child, str) and child:
            yield Entry((*path, str(name)), child)
        if not isinstance(child, dict):
            continue
        told = child.get("value")
        for one in told if isinstance(told, list) else [told]:
            if one not in (None, ""):
                yield Entry((*path, str(name)), str(one))
        yield from _entries(child.get("children"), (*path, str(name)))


@dataclass(frozen=True, slots=True)
class LinkRow:
    """The letters of one GPU's or switch's links: U up, D down, X disabled, _ or N not supported."""

    is_gpu: bool
    index: str
    states: str
    number: int
    raw: str


_OWNER = re.compile(r"\s*(?P<kind>gpuId|GPU|physicalId|NvSwitch)\s+(?P<index>\d+):", re.IGNORECASE)
_STATES = re.compile(r"\s*(?:[UDXN_]\s+)*[UDXN_]\s*$")


def link_rows(text: str) -> Iterator[LinkRow]:
    owner: re.Match[str] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _OWNER.match(raw):
            owner = match
            raw = raw[match.end() :]
        if owner and raw.strip() and _STATES.match(raw):
            is_gpu = owner["kind"].lower() in ("gpuid", "gpu")
            yield LinkRow(is_gpu, owner["index"], "".join(raw.split()), number, raw.strip())


@dataclass(frozen=True, slots=True)
class Sample:
    """A row of dcgmi dmon: the short names of its fields with their values."""

    gpu: str
    values: dict[str, str]
    number: int
    raw: str


def samples(text: str) -> Iterator[Sample]:
    heads: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        cells = raw.split()
        if re.match(r"#\s?Entity\b", raw):
            heads = raw.lstrip("# ").split()[1:]
        elif heads and len(cells) == len(heads) + 2 and cells[0] == "GPU":
            yield Sample(cells[1], dict(zip(heads, cells[2:], strict=True)), number, raw.strip())


_NUMBER = re.compile(r"\|\s*(?P<index>\d+)\s*\|")
_FACT = re.compile(r"\|[^|]*\|\s*(?P<name>Name|PCI Bus ID|Device UUID): (?P<value>[^|]*?)\s*\|")


def discovered(text: str) -> dict[str, dict[str, str]]:
    """Index -> what dcgmi discovery -l knows of the GPU; its lists of switches and CPUs have no UUID."""
    found: dict[str, dict[str, str]] = {}
    index = ""
    for raw in text.splitlines():
        line = raw.strip()
        if match := _NUMBER.match(line):
            index = match["index"]
        if index and (match := _FACT.match(line)):
            found.setdefault(index, {})[match["name"]] = match["value"]
    return {index: facts for index, facts in found.items() if "Device UUID" in facts}


_TESTS = r"Denylist|Blacklist|NVML Library|CUDA Main Library|software|pcie|memory|diagnostic|Targeted \w+|[A-Z][\w ]+"

TEXT_KINDS: TextKinds = (
    (
        "dcgm-health",
        matches(r"(?m:^\|? ?Health Monitor Report|^\| Overall Health|^\|\s+-> \d+ +\| (?:Healthy|Failure|Warning))"),
    ),
    ("dcgm-nvlink", matches(r"NvLink Link Status[\s\S]*gpuId \d+:")),
    ("dcgm-discovery", matches(r"(?m:^\d+ GPUs? found\.\s*$)")),
    ("dcgm-dmon", matches(r"(?m:^#\s?Entity\b)")),
    ("dcgm-diag", matches(r"(?m:^\| Diagnostic +\||^[|+]-+  \w+  -+\+-)")),
    ("dcgm-diag", matches(rf"(?m:^\| (?:{_TESTS}) +\| (?:Pass|Fail|Skip|Warn)\b)")),
)


def _has(*words: str) -> Any:
    return lambda value: isinstance(value, dict) and any(word in str(value.get("header", ""))[:400] for word in words)


JSON_KINDS: JsonKinds = (
    (
        "dcgm-diag-json",
        lambda value: isinstance(value, dict) and any(isinstance(value.get(name), dict) for name in _ROOTS),
    ),
    ("dcgm-health-json", _has("Health Monitor Report")),
)
