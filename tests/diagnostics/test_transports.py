import os
import selectors
import sys
import time
from contextlib import suppress

import pytest

from diagnostics.probes.transports.local import Local


def run(*command, seconds=5.0, **more):
    return Local().run(command, deadline_seconds=seconds, **more)


def test_a_command_gives_what_it_printed():
    result = run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (result.code, result.out, result.err) == (3, b"out\n", b"err\n")
    assert result.complaint == "err"


def test_nothing_of_a_command_is_read_by_a_shell():
    assert run("echo", "$(id); rm -rf /").out == b"$(id); rm -rf /\n"


def test_a_command_that_is_not_there_says_so():
    assert "No such file" in run("no-such-program").problem


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    started = time.monotonic()
    result = run("sh", "-c", f"sleep 300 & echo $! > {tmp_path}/child; wait", seconds=0.5)
    assert (result.code, time.monotonic() - started < 5) == (None, True)
    child = int((tmp_path / "child").read_text())
    assert is_gone(child)


def test_a_command_that_closes_its_output_and_stays_is_ended_too():
    result = run(sys.executable, "-c", "import os, time; os.close(1); os.close(2); time.sleep(300)", seconds=1.0)
    assert "did not end in time" in result.problem


def test_a_flood_is_cut_and_stopped():
    result = run("yes", max_bytes=1000)
    assert (len(result.out), result.is_cut) == (1000, True)


def test_of_a_long_output_the_end_is_kept_in_whole_lines():
    result = run("seq", "100000", max_bytes=1000, newest=True)
    lines = result.out.split()
    assert (result.code, result.is_cut, lines[-1]) == (0, True, b"100000")
    assert 990 < len(result.out) <= 1000
    assert lines == [b"%d" % n for n in range(100_001 - len(lines), 100_001)]


@pytest.mark.parametrize(
    ("most", "kept", "is_cut"),
    [(6, b"1\n2\n3\n", False), (5, b"2\n3\n", True), (4, b"2\n3\n", True), (1, b"\n", True)],
)
def test_an_output_is_cut_to_the_byte_when_its_end_is_asked_for(most, kept, is_cut):
    result = run("seq", "3", max_bytes=most, newest=True)
    assert (result.out, result.is_cut) == (kept, is_cut)


def test_a_flood_whose_end_is_asked_for_is_stopped_in_time(monkeypatch):
    waits, patient = [], selectors.DefaultSelector.select

    def always_something_there(selector, timeout):
        waits.append(timeout)
        return patient(selector)

    monkeypatch.setattr(selectors.DefaultSelector, "select", always_something_there)
    result = run("head", "-c", "50000000", "/dev/zero", seconds=0.0, max_bytes=1000, newest=True)
    assert (result.code, waits) == (None, [0.0])
    assert "did not end in time" in result.problem


def is_gone(pid, patience=5.0):
    """Ended; a zombie that nobody reaps counts as ended."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError), open(f"/proc/{pid}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] == "Z":
                return True
        time.sleep(0.02)
    return False
