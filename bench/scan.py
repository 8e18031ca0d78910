"""How fast is a long log judged, next to the usual tools with the same literals? `make bench-scan`, or with ARGS="--size 64M".

Writes a log of known content, checks that all tools see the same lines, then takes the processor time of each in one run.
"""

import argparse
import gzip
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from bench import sample_log
from diagnostics.engine import catalog
from diagnostics.engine.bundle_gzip import Gzip
from diagnostics.engine.judges import logs
from diagnostics.engine.parsers import windows
from diagnostics.engine.parsers.scan import Scanner

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "scan.json"
SHARES = {0.001: 1, 0.1: 4}  # of known lines, and which part of the size is enough to measure it
SLICE = 10**6  # of the log, for what would take hours
_SPECIAL = re.compile(rb"[][\\.*^$(){}|+?]")
LONG_S = 10.0
UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
PEERS = {"rg": "--version", "grep": "--version"}
LIBRARIES = ("hyperscan", "isal", "numpy", "google-re2")


@dataclass(frozen=True)
class Row:
    """One measurement; a MB is 10**6 bytes. `missing` says why there is none, `note` what was measured.

    `share` of the lines shows a sign; `lines_with_literal` is the share that hold a literal of the engine, some of them for nothing.
    """

    name: str
    share: float
    bytes: int
    cpu_s: float = 0.0
    wall_s: float = 0.0
    mb_per_cpu_s: float = 0.0
    ratio_to_ripgrep: float | None = None
    note: str = ""
    missing: str = ""
    lines_with_literal: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1G", help="of the log, such as 64M (default 1G)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    size = int(options.size[:-1]) * UNITS[options.size[-1].upper()]
    with tempfile.TemporaryDirectory(prefix="bench-scan-") as folder:
        print(f"{_machine()}, Python {platform.python_version()}")
        rows = [row for share, part in SHARES.items() for row in _measured(Path(folder), size // part, share)]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(_document(rows, options.size), indent=1) + "\n")


def _measured(folder: Path, size: int, share: float) -> Iterator[Row]:
    log, patterns, regexes = folder / "sample.log", folder / "literals", folder / "patterns"
    literals = logs.literals().scanner.literals
    sample_log.write(log, size=size, known=share)
    patterns.write_bytes(b"\n".join(literals) + b"\n")
    regexes.write_bytes(b"\n".join(_SPECIAL.sub(rb"\\\g<0>", literal) for literal in literals) + b"\n")
    log.read_bytes()  # into the cache of the system, for all alike
    print(f"{size / 1e6:.0f} MB, {share:.1%} of the lines known, {len(literals)} literals", flush=True)
    held = _check_equal(log, patterns, literals)
    ripgrep = 0.0
    print(f"{'':24} {'lines':>6} {'MB':>6} {'cpu s':>8} {'wall s':>8} {'MB/cpu s':>9} {'x rg -F':>8}")
    for made in _rows(folder, log, patterns, regexes, literals, share):
        ripgrep = made.mb_per_cpu_s if made.name == "ripgrep -F" else ripgrep
        row = replace(made, lines_with_literal=held)
        row = replace(row, ratio_to_ripgrep=made.mb_per_cpu_s / ripgrep) if ripgrep and made.cpu_s else row
        _print(row)
        yield row


def _rows(
    folder: Path, log: Path, patterns: Path, regexes: Path, literals: tuple[bytes, ...], share: float
) -> Iterator[Row]:
    engine = [sys.executable, "-m", "diagnostics.engine", "--json"]
    size = log.stat().st_size
    count = ["-a", "-c", "-f"]
    yield _run("ripgrep -F", ["rg", "-F", *count, str(patterns), str(log)], share, size)
    with_hyperscan = "" if find_spec("hyperscan") else "hyperscan is not installed"
    yield _run("engine", [*engine, str(log)], share, size, missing=with_hyperscan)
    yield _run("engine, no hyperscan", [*engine, str(log)], share, size, env={"SICKBAY_SCANNER": "re"})
    packed = folder / "sample.log.gz"
    with log.open("rb") as source, gzip.open(packed, "wb", compresslevel=6) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    note = f"unpacked bytes, {'isal' if find_spec('isal') else 'zlib'}"
    yield _run("engine, gzip", [*engine, str(packed)], share, size, note=note, missing=with_hyperscan)
    scanner = Scanner(literals)
    yield _here("unpacking alone", lambda: _length(_unpacked(packed)), share, size, note=note)
    limit = lambda: _scanned(_unpacked(packed), scanner)  # noqa: E731
    yield _here(
        "unpacking, hyperscan",
        limit,
        share,
        size,
        note="what the engine cannot be faster than on gzip",
        missing=with_hyperscan,
    )
    packed.unlink()
    yield _here("hyperscan alone", lambda: _scanned(_blocks(log), scanner), share, size, missing=with_hyperscan)
    yield _run("ripgrep", ["rg", *count, str(regexes), str(log)], share, size, note="literals as patterns")
    yield _run("grep -F", ["grep", "-F", *count, str(patterns), str(log)], share, size)
    yield _run("grep -E", ["grep", "-E", *count, str(regexes), str(log)], share, size, note="literals as patterns")
    yield _re2(log, literals, share, size)
    part = log.open("rb").read(SLICE).decode()
    compiled = [one.pattern for one in catalog.signatures()]
    note = f"{len(compiled)} signatures, on {len(part) / 1e6:.0f} MB only"
    loop = lambda: sum(1 for pattern in compiled for _ in pattern.finditer(part))  # noqa: E731
    yield _here("re, a loop", loop, share, len(part), note=note)


def _run(
    name: str, command: list[str], share: float, size: int, *, env: dict[str, str] | None = None, note: str = "", missing: str = ""
) -> Row:  # fmt: skip
    """A program: the best of three, or the only one if it takes long."""
    if not missing and not shutil.which(command[0]):
        missing = f"{command[0]} is not installed"
    if missing:
        return Row(name, share, size, missing=missing)
    best = (1e9, 1e9)
    environment = os.environ | {"LC_ALL": "C"} | (env or {})
    for _ in range(3):
        began = time.perf_counter()
        # Into a file: grep stops at its first match where nobody wants its answer.
        with tempfile.TemporaryFile() as answer:
            child = subprocess.Popen(command, stdout=answer, cwd=ROOT, env=environment)
            _, _, used = os.wait4(child.pid, 0)
            child.returncode = 0
        best = min(best, (used.ru_utime + used.ru_stime, time.perf_counter() - began))
        if best[0] > LONG_S:
            break
    return _row(name, share, size, best, note)


def _here(name: str, work: Callable[[], object], share: float, size: int, *, note: str = "", missing: str = "") -> Row:
    if missing:
        return Row(name, share, size, missing=missing)
    began, before = time.perf_counter(), _cpu()
    work()
    return _row(name, share, size, (_cpu() - before, time.perf_counter() - began), note)


def _row(name: str, share: float, size: int, used: tuple[float, float], note: str) -> Row:
    cpu, wall = used
    return Row(name, share, size, cpu, wall, size / 1e6 / cpu, note=note)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _blocks(log: Path, size: int = windows.SIZE) -> Iterator[bytes]:
    """Whole lines."""
    with log.open("rb", buffering=0) as file:
        begun = b""
        while block := file.read(size):
            lines, end, rest = block.rpartition(b"\n")
            yield begun + lines + end
            begun = rest
        yield begun


def _unpacked(packed: Path) -> Iterator[bytes]:
    with packed.open("rb", buffering=0) as file:
        yield from iter(partial(Gzip(file).read1, windows.SIZE), b"")


def _length(blocks: Iterator[bytes]) -> int:
    return sum(map(len, blocks))


def _scanned(blocks: Iterator[bytes], scanner: Scanner) -> int:
    return sum(len(scanner.find(memoryview(block))) for block in blocks)


def _re2(log: Path, literals: tuple[bytes, ...], share: float, size: int) -> Row:
    if not find_spec("re2"):
        return Row("google-re2", share, size, missing="google-re2 is not installed")
    import re2

    options = re2.Options()
    options.max_mem = 1 << 30  # with less it gives its automaton up and crawls
    union = re2.compile(b"|".join(re2.escape(literal) for literal in literals), options)
    work = lambda: sum(1 for block in _blocks(log) for _ in union.finditer(block))  # noqa: E731
    return _here("google-re2", work, share, size, note="one pattern of all literals, on blocks")


def _check_equal(log: Path, patterns: Path, literals: tuple[bytes, ...]) -> float:
    """Both scanners and grep see the same lines; their share of all."""
    seen = {name: _lines(log, Scanner(literals, plain=plain)) for name, plain in _scanners()}
    command = ["rg", "-a", "-n", "-F", "-f"] if shutil.which("rg") else ["grep", "-a", "-n", "-F", "-f"]
    found = subprocess.run([*command, str(patterns), str(log)], capture_output=True, check=False).stdout
    seen[command[0]] = {int(line.partition(b":")[0]) for line in found.splitlines()}
    first = next(iter(seen.values()))
    if any(lines != first for lines in seen.values()):
        raise SystemExit(f"not the same lines: { ({name: len(lines) for name, lines in seen.items()}) }")
    held = len(first) / max(sum(block.count(b"\n") for block in _blocks(log)), 1)
    print(f"  {held:.2%} of the lines hold a literal, the same {len(first)} for {', '.join(seen)}", flush=True)
    return held


def _scanners() -> list[tuple[str, bool]]:
    both = [("no hyperscan", True)]
    return [("hyperscan", False), *both] if find_spec("hyperscan") else both


def _lines(log: Path, scanner: Scanner) -> set[int]:
    found: set[int] = set()
    number = 1
    for block in _blocks(log):
        last = 0
        for at, _ in sorted(scanner.find(memoryview(block))):
            number += block.count(b"\n", last, at)
            last = at
            found.add(number)
        number += block.count(b"\n", last)
    return found


def _machine() -> str:
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", info.read_text()) if info.exists() else []
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def _versions() -> dict[str, str]:
    """Of all that is measured; what is not there is left out."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    for name, option in PEERS.items():
        with suppress(OSError):
            found[name] = subprocess.run(
                [name, option], capture_output=True, text=True, check=False
            ).stdout.splitlines()[0]
    return found


def _document(rows: list[Row], size: str) -> dict[str, object]:
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "made": made,
        "machine": _machine(),
        "versions": _versions(),
        "size": size,
        "rows": [asdict(row) for row in rows],
    }


def _print(row: Row) -> None:
    head = f"{row.name:24} {row.share:6.1%} {row.bytes / 1e6:6.0f}"
    if row.missing:
        print(f"{head} {row.missing}", flush=True)
        return
    ratio = f"{row.ratio_to_ripgrep:8.2f}" if row.ratio_to_ripgrep else " " * 8
    print(f"{head} {row.cpu_s:8.2f} {row.wall_s:8.2f} {row.mb_per_cpu_s:9.1f} {ratio}  {row.note}", flush=True)


if __name__ == "__main__":
    main()
