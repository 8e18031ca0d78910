"""What a probe is: it reads from a node, changes nothing there, and says so when it could not look."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Literal, Protocol

MEBIBYTE = 1024 * 1024
Status = Literal["ok", "could_not_check", "not_supported"]


@dataclass(frozen=True, slots=True)
class Result:
    """What a command did. `code` is None if it was not started or had to be killed; `problem` then says why."""

    code: int | None
    out: bytes = b""
    err: bytes = b""
    is_cut: bool = False  # it printed more than the cap; the rest is missing
    problem: str = ""

    @property
    def complaint(self) -> str:
        """The reason why it is of no use, in one line."""
        return (
            self.problem
            or self.err.decode("utf-8", "replace").strip().split("\n")[0][:300]
            or f"exit status {self.code}"
        )


class Transport(Protocol):
    """A way to a node. Paths are those of the node; `is_here` if library calls of this process reach it."""

    @property
    def is_here(self) -> bool: ...

    def run(
        self,
        command: tuple[str, ...],
        *,
        deadline_seconds: float,
        max_bytes: int = 16 * MEBIBYTE,
        newest: bool = False,
    ) -> Result:
        """What it printed, cut after `max_bytes`; with `newest` it is read to its end, and whole lines of the last are kept."""

    def read(self, path: str, *, max_bytes: int = MEBIBYTE) -> bytes:
        """The file, cut after `max_bytes`; raises OSError."""

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty if it is not there."""

    def space(self, path: str) -> "Space":
        """How full the file system of the path is; raises OSError."""

    def recorded(self, name: str) -> bytes | None:
        """A document that was recorded in place of a library call; None on a live node."""


def newest_lines(out: bytes, max_bytes: int) -> bytes:
    """The last `max_bytes` at most, without the line that is broken at their beginning unless there is no other."""
    if len(out) <= max_bytes:
        return out
    kept = out[-max_bytes - 1 :]
    return kept[kept.find(b"\n", 0, -1) + 1 :][-max_bytes:]


@dataclass(frozen=True, slots=True)
class Space:
    """Sizes in bytes; `available` is what is left for everybody but root."""

    size: int
    used: int
    available: int
    inodes: int
    inodes_used: int


@dataclass(frozen=True, slots=True)
class Context:
    """Where and what to look for. `since`: older entries are not wanted; `expected_gpus`: None if nobody said."""

    transport: Transport
    since: datetime | None = None
    expected_gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """A piece of evidence: its file name, its media type, its bytes."""

    name: str
    media: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ProbeOutput:
    """`reason` tells why nothing could be read, and what to do about it; it may also tell what is wanting of evidence that is there."""

    status: Status
    evidence: tuple[Captured, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """A row of the table of probes. `families`: patterns as in file names, such as "gpu.*"."""

    id: str
    version: str
    title: str
    families: tuple[str, ...]
    deadline_seconds: float
    run: Callable[[Context], ProbeOutput]
    read_only: bool = True

    def covers(self, family: str) -> bool:
        """True if a clean answer of this probe says something about the fault family."""
        return any(fnmatchcase(family, pattern) for pattern in self.families)


def found(*evidence: Captured, reason: str = "") -> ProbeOutput:
    return ProbeOutput("ok", evidence, reason)


def could_not_check(reason: str) -> ProbeOutput:
    return ProbeOutput("could_not_check", (), reason)


def not_supported(reason: str) -> ProbeOutput:
    return ProbeOutput("not_supported", (), reason)
