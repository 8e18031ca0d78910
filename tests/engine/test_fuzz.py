"""Broken evidence: whatever the bytes are, there is an answer, soon, in little memory, and never an exception."""

import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnostics.engine.diagnose import Part, diagnose, document

CORPUS = Path(__file__).parent / "corpus"
SEEDS = [path.read_bytes() for path in sorted(CORPUS.rglob("*")) if path.is_file()]
# What breaks parsers: borders, nesting, numbers of any size, the marks of other formats.
TOKENS = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\t", b"|", b" | ", b",", b'"', b"{", b"}", b"[", b"]", b"<", b">", b"</gpu>",
    b"<!ENTITY a '&a;&a;'>", b"%", b"\x1b[31m", b"-1", b"99999999999999999999", b"1e309", b"NaN", b"0x", b"null", b"true", b"N/A", b": ",
    b"NVRM: Xid (PCI:", b"): 79, ", b"[Hardware Error]: ", b"Asserted", b"==> x <==\n", b"{" * 300, b"[" * 300, "月".encode(), b"\xc3\x28",
]  # fmt: skip
SLOWEST_S = 10.0
FEW, MANY, ROUNDS = 300, 5_000, 20


def flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] = chance.randrange(256)


def cut(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    del data[start : start + chance.randrange(1, 200)]


def insert(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(TOKENS)


def repeat(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    piece = bytes(data[start : start + chance.randrange(1, 400)])
    data[start:start] = piece * chance.randrange(1, 30)


def splice(data: bytearray, chance: random.Random) -> None:
    other = chance.choice(SEEDS)
    start = chance.randrange(len(other) or 1)
    at = chance.randrange(len(data) + 1)
    data[at:at] = other[start : start + chance.randrange(1, 2_000)]


def shuffle_lines(data: bytearray, chance: random.Random) -> None:
    lines = bytes(data).split(b"\n")
    chance.shuffle(lines)
    data[:] = b"\n".join(lines)


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    flip,
    flip,
    cut,
    insert,
    insert,
    repeat,
    splice,
    shuffle_lines,
]


def mutated(chance: random.Random) -> bytes:
    data = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randrange(1, 12)):
        if data:
            chance.choice(MUTATIONS)(data, chance)
    return bytes(data[: 1 << 20])


def survive(seed: int, count: int) -> None:
    chance = random.Random(seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(count):
        data, began = mutated(chance), time.monotonic()
        try:
            answer = diagnose([Part("fuzz", data)], path="fuzz")
            document([answer], language="zh-hans")
        except Exception as error:
            error.add_note(f"seed {seed}, input {number}: {data[:300]!r}")
            raise
        assert time.monotonic() - began < SLOWEST_S, f"seed {seed}, input {number}"
        assert answer.findings or answer.checked or answer.could_not_check
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10  # KiB


def test_broken_evidence_gets_an_answer():
    survive(1, FEW)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(100, 100 + ROUNDS))
def test_a_hundred_thousand_broken_inputs_get_an_answer(seed: int):
    assert ROUNDS * MANY >= 100_000
    survive(seed, MANY)
