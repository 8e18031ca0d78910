"""The diagnosis in a child process with limits: whatever the evidence does to it, who asked goes on.

The child reads a line of JSON (what is asked, and how long each part is) and then the parts; it answers with a diagnosis as JSON.
"""

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from diagnostics.engine import wire
from diagnostics.engine.catalog.profiles import NOTHING as NOTHING_SAID
from diagnostics.engine.catalog.profiles import Profile
from diagnostics.engine.diagnose import diagnose
from diagnostics.engine.types import Check, Diagnosis, Part, Verdict
from incidents.domain.hardware import PartFacts

MEMORY_BYTES = 1 << 30
SECONDS = 100.0  # of processor time; twice as long by the clock on the wall
_HEAD = 1 << 20
ROOT = Path(__file__).resolve().parents[2]
_OUT_OF_MEMORY = 90
_PASSED_ON = ("PATH", "LANG", "TMPDIR", "SICKBAY_SCANNER")


class CannotRun(Exception):
    """This machine cannot start the child for the moment, as where its temporary folder is full; the evidence is not to blame."""


@dataclass(frozen=True, slots=True)
class Asked:
    """All that `diagnose` takes but the parts, of which name and size are told, and the limits of the child."""

    path: str
    since: datetime | None
    live_since: datetime | None
    node: str | None
    is_bundle: bool
    problems: tuple[Check, ...]
    inventory: tuple[PartFacts, ...]
    profile: Profile
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    first_lines: tuple[int, ...]
    memory_bytes: int
    seconds: float


def diagnose_limited(
    parts: Sequence[Part],
    *,
    path: str,
    since: datetime | None = None,
    live_since: datetime | None = None,
    node: str | None = None,
    is_bundle: bool = False,
    problems: Sequence[Check] = (),
    inventory: Sequence[PartFacts] = (),
    profile: Profile = NOTHING_SAID,
    memory_bytes: int = MEMORY_BYTES,
    seconds: float = SECONDS,
) -> Diagnosis:
    """Like `diagnose`, for parts in memory; what needs more than the limits, or ends the child, could not be checked.

    Raises CannotRun.
    """
    asked = Asked(
        path, since, live_since, node, is_bundle, tuple(problems), tuple(inventory), profile, tuple(part.name for part in parts),
        tuple(len(part.data) for part in parts), tuple(part.first_line for part in parts), memory_bytes, seconds,
    )  # fmt: skip
    try:
        with tempfile.TemporaryFile() as file:  # a pipe could block: both would wait for the other to read
            file.write(json.dumps(wire.plain(asked)).encode() + b"\n")
            for part in parts:
                file.write(part.data)
            file.seek(0)
            return _answer(asked, file)
    except OSError as error:
        raise CannotRun(f"the diagnosis cannot be started: {error}") from error


def _answer(asked: Asked, file: IO[bytes]) -> Diagnosis:
    try:
        child = subprocess.run(
            [sys.executable, "-m", "diagnostics.engine.limited"],
            stdin=file,
            capture_output=True,
            timeout=2 * asked.seconds,
            cwd=ROOT,
            env=environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _gave_up(asked, _too_long("the diagnosis", asked.seconds))
    if child.returncode == 0:
        found: Diagnosis = wire.rebuilt(Diagnosis, json.loads(child.stdout))
        return found
    return _gave_up(asked, _reason(asked, child.returncode, child.stderr))


def environment() -> dict[str, str]:
    """What a child is given: nothing that it could tell of."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"OPENBLAS_NUM_THREADS": "1"}


def _reason(asked: Asked, status: int, told: bytes) -> str:
    if status == _OUT_OF_MEMORY:
        return f"the diagnosis needed more than {asked.memory_bytes >> 20} MiB of memory"
    return ended_by(status, "the diagnosis", asked.seconds) or f"the diagnosis failed: {last_line(told)}"


def ended_by(status: int, what: str, seconds: float) -> str:
    """Why a signal ended a child; empty if none did."""
    if status == -signal.SIGXCPU:
        return _too_long(what, seconds)
    return f"{what} was ended by signal {-status}, as where memory runs out" if status < 0 else ""


def last_line(told: bytes) -> str:
    return told.decode(errors="replace").strip().rpartition("\n")[2][:200]


def _too_long(what: str, seconds: float) -> str:
    return f"{what} needed more than {seconds:g} s"


def _gave_up(asked: Asked, reason: str) -> Diagnosis:
    gaps = (*asked.problems, *(Check(name, (), "could_not_check", reason) for name in asked.names))
    return Diagnosis(asked.path, "unknown", (), (), gaps, Verdict("could_not_check"))


def _child() -> int:
    """Reads what is asked, sets its own limits, then looks at the evidence."""
    source = sys.stdin.buffer
    asked: Asked = wire.rebuilt(Asked, json.loads(source.readline()))
    limit(resource.RLIMIT_AS, asked.memory_bytes)
    limit(resource.RLIMIT_CPU, max(int(asked.seconds), 1))
    limit(resource.RLIMIT_CORE, 0)
    try:
        found = diagnose(
            _parts(asked, source), path=asked.path, since=asked.since, live_since=asked.live_since, node=asked.node,
            is_bundle=asked.is_bundle, problems=asked.problems, inventory=asked.inventory, profile=asked.profile,
        )  # fmt: skip
        answer = json.dumps(wire.plain(found))
    except MemoryError:
        return _OUT_OF_MEMORY
    shutil.copyfileobj(io.StringIO(answer), sys.stdout)
    return 0


def limit(kind: int, most: int) -> None:
    """Softly: at the hard limit of processor time the child would be killed without a telling signal."""
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or most <= hard:
        resource.setrlimit(kind, (most, hard))


def _parts(asked: Asked, source: IO[bytes]) -> Iterator[Part]:
    for name, size, first_line in zip(asked.names, asked.sizes, asked.first_lines, strict=True):
        rest = _Slice(source, size)
        head = rest.read(_HEAD)
        yield Part(name, head, first_line, rest if rest.left else None)
        while rest.read(_HEAD):  # what was not looked at
            pass


class _Slice:
    """The next `left` bytes of a stream."""

    def __init__(self, source: Any, left: int) -> None:
        self._source = source
        self.left = left

    def read(self, size: int = -1, /) -> bytes:
        data: bytes = self._source.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        return data

    def readinto(self, space: memoryview, /) -> int:
        size: int = self._source.readinto(space[: self.left])
        self.left -= size
        return size


if __name__ == "__main__":
    sys.exit(_child())
