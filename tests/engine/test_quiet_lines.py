"""What a log costs: a quiet line that holds a literal of the engine is taken apart for nothing."""

from pathlib import Path

from bench import sample_log
from diagnostics.engine.judges import logs
from diagnostics.engine.parsers.detect import detect

HEALTHY = Path(__file__).parent / "corpus" / "healthy"
LITERALS = logs.literals().scanner.literals


def held(lines: list[bytes]) -> list[bytes]:
    text = b"\n".join(lines)
    present = [literal for literal in LITERALS if literal in text]
    return [line for line in lines if any(literal in line for literal in present)]


def test_lines_of_a_busy_node_hold_no_literal():
    assert held([row.encode() for row in sample_log.QUIET]) == []


def test_few_lines_of_healthy_logs_hold_a_literal():
    """They are picked because they look like trouble, so that more of them hold one than of any real log."""
    parts = [path.read_bytes() for path in sorted(HEALTHY.rglob("*")) if path.is_file()]
    lines = [line for data in parts if detect(data).kind == "log" for line in data.split(b"\n") if line.strip()]
    assert len(lines) > 500
    assert len(held(lines)) / len(lines) < 0.12


def test_no_literal_is_so_short_that_it_slows_the_scan():
    """Five literals of three bytes among fifteen hundred cost the scanner a fifth of its speed."""
    assert [literal for literal in LITERALS if len(literal) < 4] == []
