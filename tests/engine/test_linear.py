"""No text is so odd that reading it takes longer than its length: four times the text, about four times the time."""

import re
import re._constants as op
import re._parser as parser
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from diagnostics.engine import catalog
from diagnostics.engine.diagnose import diagnose
from diagnostics.engine.judges import signatures
from diagnostics.engine.parsers import detect, hosts, log_line, log_time, sections
from diagnostics.engine.types import Moment, Part

FLOOR_S = 0.02  # what takes less is no burden, however it grows
MOST_GROWTH = 10  # of what is four times as long; what is not linear grows 16 times
TRIES = 6  # of the same, of which the quickest counts: others may disturb it
RUNS = (
    "a", "A", "1", ".", " ", "\t", "-", "_", "/", ":", "[", "(", "<", "=", ",", "|", '"', "\\", "\n", " \n", "a\n",
    "x ", "1 ", "a.", "a:", "1.", "1:", "a/", "a-", "- ", "[1]", "a=1 ", "0x",
)  # fmt: skip
MOST_DERIVED = 40
SHORTEST = {op.CATEGORY_DIGIT: "1", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a"}


def hostile(patterns: Iterable[re.Pattern[Any]]) -> dict[str, tuple[str, str]]:
    """Beginnings and what is repeated after them: long runs, and for each pattern what it itself repeats and spells out."""
    found = {repr(run): ("", run) for run in RUNS}
    for pattern in patterns:
        source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        tree = parser.parse(source, pattern.flags if isinstance(pattern.pattern, str) else pattern.flags & ~re.UNICODE)
        loops: list[tuple[str, str]] = []
        whole = smallest(tree, loops)
        derived = [("", whole), ("", whole + " "), ("", whole + "\n")]
        derived += [
            pair for start, loop in loops for pair in ((start, loop), ("", start + loop), ("", start + loop + " "))
        ]
        found |= {repr(pair): pair for pair in islice(dict.fromkeys(derived), MOST_DERIVED) if pair[1]}
    return found


def smallest(tree: Iterable[tuple[Any, Any]], loops: list[tuple[str, str]], start: str = "") -> str:
    """A short text that the pattern fits; into `loops` goes what it may repeat, with what stands before it."""
    text = ""
    for kind, value in tree:
        if kind is op.LITERAL:
            text += chr(value)
        elif kind in (op.ANY, op.NOT_LITERAL):
            text += "x"
        elif kind is op.IN:
            text += one_of(value)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, _, inner = value
            one = smallest(inner, loops, start + text)
            loops.append((start + text, one))
            text += one * max(least, 1)
        elif kind is op.SUBPATTERN:
            text += smallest(value[-1], loops, start + text)
        elif kind is op.ATOMIC_GROUP:
            text += smallest(value, loops, start + text)
        elif kind is op.BRANCH:
            choices = [smallest(choice, loops, start + text) for choice in value[1]]
            loops += [(start + text, choice) for choice in choices]
            text += choices[0]
    return text


def one_of(members: Iterable[tuple[Any, Any]]) -> str:
    kind, value = next(iter(members))
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.RANGE:
        return chr(value[0])
    return SHORTEST.get(value, "x")


def seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def slow(
    read: Callable[[str], object], texts: dict[str, tuple[str, str]], *, size: int, floor: float = FLOOR_S
) -> Iterator[str]:
    """The texts that cost more than their length."""
    for name, (start, run) in texts.items():
        short, long = (start + run * (length // len(run)) + "\x01" for length in (size, 4 * size))
        if seconds(read, long) < floor:
            continue
        least = max(min(seconds(read, short) for _ in range(TRIES)), 1e-6)
        most = min(seconds(read, long) for _ in range(TRIES))
        if most > floor and most > MOST_GROWTH * least:
            yield f"{name[:100]}: {most * 1e3:.0f} ms, {most / least:.0f} times"


def patterns_in(value: Any) -> list[re.Pattern[Any]]:
    """Those of a recogniser that was made of one."""
    cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    return [cell for cell in cells if isinstance(cell, re.Pattern)]


def patterns_of(module: Any) -> dict[str, re.Pattern[Any]]:
    return {name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)}


def test_every_recogniser_of_a_kind():
    found = {}
    for number, (kind, looks_like) in enumerate(detect._TEXT_KINDS):
        read = lambda text, looks_like=looks_like: looks_like(detect._LONG_LINE.sub(r"\1", text))  # noqa: E731
        for size in (512, 4096):
            if bad := list(slow(read, hostile(patterns_in(looks_like)), size=size)):
                found[kind, number, size] = bad
    assert found == {}


@pytest.mark.parametrize("module", [log_line, log_time])
def test_every_prefix_of_a_log_line(module: Any):
    patterns = patterns_of(module)
    found = {
        name: list(slow(pattern.match, hostile([pattern]), size=log_line.LONGEST // 4))
        for name, pattern in patterns.items()
    }
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_a_log_line_as_a_whole():
    texts = hostile([*patterns_of(log_line).values(), *patterns_of(log_time).values()])
    assert list(slow(lambda text: log_line.parse(text, number=1), texts, size=log_line.LONGEST // 4)) == []


def test_the_borders_of_sections_and_the_hosts_before_lines():
    texts = hostile([*patterns_of(sections).values(), *patterns_of(hosts).values()])
    assert list(slow(lambda text: sections.split(Part("x", text.encode())), texts, size=10_000)) == []
    assert list(slow(hosts.by_prefix, texts, size=10_000)) == []


def test_every_signature_of_the_catalogue():
    found = {}
    for one in catalog.signatures():
        read = lambda text, one=one: signatures.shown_by(one, log_line.LogLine(1, text, text, Moment()))  # noqa: E731
        whole = smallest(parser.parse(one.expression), [])
        texts = {end: ("", whole + end) for end in ("", " ", ", ")}
        if bad := list(slow(read, texts, size=log_line.LONGEST // 4, floor=0.1)):
            found[one.id] = bad
    assert found == {}


ALERT = '{"status": "firing", "labels": {"alertname": "A%d", "instance": "n%d"}, "annotations": {"summary": "GPU fan"}}'
POD = (
    '{"kind": "Pod", "metadata": {"name": "p%d"}, "status": {"phase": "Failed", "reason": "Evicted", "message": "p%d"}}'
)
STATE = '{"component": "gpu-xid", "states": [{"health": "Unhealthy", "reason": "p%d: Xid 79 detected on GPU %d"}]}'
ROWS = {
    "alerts": '{"alerts": [%s]}',
    "pods": '{"kind": "List", "apiVersion": "v1", "items": [%s]}',
    "states": '{"components": [%s]}',
}


@pytest.mark.parametrize(("kind", "row"), [("alerts", ALERT), ("pods", POD), ("states", STATE)])
@pytest.mark.parametrize("joint", [", ", ",\n"])
def test_a_document_of_many_rows(kind: str, row: str, joint: str):
    texts = {n: ROWS[kind] % joint.join(row % (m, m) for m in range(n)) for n in (10, 800, 3_200)}
    took = {n: min(timed(text) for _ in range(2)) for n, text in texts.items()}
    assert took[3_200] < max(MOST_GROWTH * took[800], 0.5)


def timed(text: str) -> float:
    began = time.process_time()
    diagnose([Part("x", text.encode())], path="x")
    return time.process_time() - began
