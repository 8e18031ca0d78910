"""Both ways of finding literals find the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.engine import catalog
from diagnostics.engine.judges import logs
from diagnostics.engine.parsers.scan import Scanner, is_plain

LITERALS = logs.literals().scanner.literals
LINES = [example for signature in catalog.signatures() for example in (*signature.positive, *signature.negative)]


def places(scanner: Scanner, block: bytes) -> set[tuple[int, int]]:
    """(number of the line, literal) of all that is found; each place must lie in its line."""
    found = scanner.find(memoryview(block))
    assert [at for at, _ in found] == sorted(at for at, _ in found)
    return {(block.count(b"\n", 0, at), index) for at, index in found}


def by_hand(literals: tuple[bytes, ...], block: bytes) -> set[tuple[int, int]]:
    lines = block.split(b"\n")
    present = [(i, literal) for i, literal in enumerate(literals) if literal in block]
    return {(n, i) for n, line in enumerate(lines) for i, literal in present if literal in line}


PLAIN = Scanner(LITERALS, plain=True)
WAYS = [PLAIN] if is_plain() else [PLAIN, Scanner(LITERALS, plain=False)]


@pytest.mark.parametrize("scanner", WAYS)
def test_every_example_of_the_catalogue_is_found(scanner: Scanner):
    block = "\n".join(LINES).encode()
    assert places(scanner, block) == by_hand(LITERALS, block)


@pytest.mark.parametrize("scanner", WAYS)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=8), st.integers(0, 900), st.binary(max_size=12))
def test_spliced_lines_are_found_alike(scanner: Scanner, lines: list[str], at: int, splice: bytes):
    text = "\n".join(lines).encode()
    block = text[:at] + splice + text[at:]
    assert places(scanner, block) == by_hand(LITERALS, block)


@settings(max_examples=200, deadline=None)
@given(
    st.sets(st.text("abg1 X", min_size=1, max_size=4), min_size=1, max_size=6),
    st.text("abg1 X\n", max_size=60),
    st.booleans(),
)
def test_any_literals_are_found_alike(literals: set[str], text: str, plain: bool):
    wanted = tuple(sorted(literal.encode() for literal in literals))
    scanner = Scanner(wanted, plain=plain or is_plain())
    for _ in range(2):  # the second time from what is remembered
        assert places(scanner, text.encode()) == by_hand(wanted, text.encode())


def test_what_is_remembered_of_a_log_without_repeats_does_not_grow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("diagnostics.engine.parsers.scan_plain._MOST_KNOWN", 2_000)
    scanner = Scanner((b"wanted line",), plain=True)
    for number in range(40):
        block = b"".join(b"%s x wanted line\nother %s\n" % (b"pqrs" * number, b"tuvw" * n) for n in range(number))
        assert places(scanner, block) == by_hand((b"wanted line",), block)
    assert scanner._finder._size < 10_000


def test_hyperscan_can_be_switched_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SICKBAY_SCANNER", "re")
    assert is_plain()
