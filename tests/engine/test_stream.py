"""A log of any length is judged in windows: the same findings, flat memory."""

import gzip
import io
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.engine import bundle, catalog, intake
from diagnostics.engine.diagnose import Part, diagnose
from diagnostics.engine.judges import logs
from diagnostics.engine.parsers import text, windows
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.windows import Windows

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [example for signature in catalog.signatures() for example in signature.positive]
XID = b"[ 9.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus."
RECORD = """[ 5.000000] {7}[Hardware Error]: event severity: corrected
[ 5.000001] {7}[Hardware Error]:   section_type: memory error
[ 5.000002] {7}[Hardware Error]:   fru_text: DIMM_A1"""
LINES = [
    *EXAMPLES,
    *(f"[ 3.{n:06}] quiet line {n}" for n in range(40)),
    "",
    "\x1b[31mred\x1b[0m",
    RECORD,
    "\x1b[1m" + XID.decode(),
]
MIB = 1 << 20


def in_windows(data: bytes, *, size: int, cut: int) -> list:
    made = Windows(data[:cut], io.BytesIO(data[cut:]), size=size)
    return logs.judge(made, source_name="log")[0]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=90),
    st.integers(60, 3000),
    st.integers(0, 2000),
    st.booleans(),
)
def test_windows_of_any_size_show_what_one_shows(lines: list[str], size: int, cut: int, ends: bool):
    data = ("\n".join(lines) + "\n" * ends).encode()
    whole = Log.of(text.decode(data))
    assert in_windows(data, size=size, cut=cut) == logs.judge([whole], source_name="log")[0]


@settings(max_examples=100, deadline=None)
@given(st.text("a\n\x1b[m0", max_size=400), st.integers(1, 60))
def test_every_line_is_given_once_and_numbered(content: str, size: int):
    data = content.encode()
    pieces = [(log.number, log.data[log.begin : log.end]) for log in Windows(data, None, size=size)]
    assert b"".join(piece for _, piece in pieces) == text.clean_block(data)
    line = 1
    for number, piece in pieces:
        assert number == line
        line += piece.count(b"\n")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("size", [7, 64, MIB])
def test_marks_and_wide_characters_are_read_through(encoding: str, size: int):
    data = ("quiet\n" * 50 + XID.decode() + "\n").encode(encoding)
    (seen,) = in_windows(data, size=size, cut=0)
    assert (seen.fault, seen.line.number) == ("gpu.off_bus", 51)


def test_a_line_that_is_longer_than_memory_should_hold_is_cut_and_said_so():
    data = b"[ 1.000000] ok\n" * 3 + b"x" * (5 * MIB) + b"\n" + XID + b" " + b"y" * (3 * MIB) + b"\n" + XID + b"\n"
    found = diagnose([Part("log", data)], path="x")
    assert [line.number for line in found.findings[0].evidence] == [5, 6]
    reason = next(check.reason for check in found.could_not_check)
    assert "longer than 1 MiB: line 4, 5" in reason


def test_line_numbers_count_over_gigabytes_with_numpy_or_without():
    data = b"[ 1.000000] quiet\n" * 20_000
    made = list(Windows(data, None, size=100_000))
    assert made[-1].number_at(len(made[-1].data)) == 20_001
    windows.line_ends.hurry()
    made = list(Windows(data, None, size=100_000))
    assert made[-1].number_at(len(made[-1].data)) == 20_001


def test_a_log_after_a_megabyte_of_nuls_is_read():
    found = diagnose([Part("log", b"\0" * (3 * MIB) + b"\n" + XID + b"\n")], path="x")
    assert (found.verdict.fault, found.findings[0].line_number) == ("gpu.off_bus", 2)


def test_journal_entries_of_any_number_are_a_log():
    entry = b'{"_TRANSPORT":"kernel","MESSAGE":"quiet","_HOSTNAME":"gn-1"}\n'
    data = entry * 60_000 + entry.replace(b"quiet", XID[12:])
    found = diagnose([Part("log", data)], path="x")
    assert (found.kind, found.verdict.fault, found.findings[0].line_number) == ("log", "gpu.off_bus", 60_001)


def test_a_document_is_read_whole_and_a_longer_one_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(intake, "WHOLE", 2 * MIB)
    head = b'{"smartctl":{"exit_status":0},"device":{"name":"/dev/sda"},"x":"'
    short, gaps = intake.hold(Part("a", head + b"y" * MIB + b'"}'))
    assert (len(short.data), short.rest, gaps) == (len(head) + MIB + 2, None, [])
    found = diagnose([Part("a", head + b"y" * (4 * MIB) + b'"}')], path="x")
    assert "beyond 2 MiB" in found.could_not_check[-1].reason


def test_a_long_file_is_judged_like_a_short_one(tmp_path: Path):
    chance = random.Random(5)
    lines = [f"[ 1.{n:06}] quiet {n}" for n in range(120_000)]
    for example in EXAMPLES[::5]:
        lines[chance.randrange(len(lines))] = example
    data = ("\n".join(lines) + "\n").encode()
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(data))
    read = bundle.read(str(path))
    streamed = diagnose(read.parts, path="x", problems=read.problems)
    (whole,) = [logs.judge([Log(data)], source_name="log.gz")[0]]
    faults = {found.fault for one in streamed.findings for found in (one, *one.consequences)}
    assert faults == {seen.fault for seen in whole}


CHILD = """
import resource, sys
from diagnostics.engine import __main__ as command
status = command.main(["-", "--json"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak_mib(megabytes: int, *, scanner: str, packed: bool = False) -> float:
    """Of a child that is given so many megabytes of log through a pipe."""
    block = (
        b"".join(b"[ %d.%06d] quiet line of a node with words %d\n" % (n, n, n * 7) for n in range(20_000))
        + XID
        + b"\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={"SICKBAY_SCANNER": scanner},
    ) as child:  # fmt: skip
        assert child.stdin
        assert child.stderr
        with gzip.open(child.stdin, "wb", compresslevel=1) if packed else child.stdin as stream:
            for _ in range(max(megabytes * MIB // len(block), 1)):
                stream.write(block)
        child.stdin.close()
        peak = int(child.stderr.read().split()[-1])
    return peak / (MIB if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize("scanner", ["", "re"])
def test_memory_stays_flat(scanner: str):
    assert peak_mib(160, scanner=scanner, packed=False) - peak_mib(0, scanner=scanner, packed=False) <= 64


@pytest.mark.proof
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("scanner", ["", "re"])
def test_memory_stays_flat_over_ten_gigabytes(scanner: str, packed: bool):
    assert peak_mib(10_000, scanner=scanner, packed=packed) - peak_mib(0, scanner=scanner, packed=packed) <= 64
