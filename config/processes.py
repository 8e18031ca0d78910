"""Ending processes for good: children that go with their parent, and a guard for what a killed supervisor leaves.

Every child leads a session of its own and carries a token in its environment. On Linux its descendants are found by
either, though they may have left the group or cleared their environment. Elsewhere (macOS) the child's group is ended.
Standard library only.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

PROC = Path("/proc")
LINUX = sys.platform == "linux"
LIBC = ctypes.CDLL(None) if LINUX else None
PR_SET_PDEATHSIG = 1
TOKEN = "SICKBAY_RUN"  # noqa: S105 - the name of a variable
GUARD_PATIENCE = 5.0  # seconds from "please end" to "end", once the supervisor is gone


def end_with_parent() -> None:
    """Ask the kernel for a SIGTERM when our parent dies; nothing on other systems, where the guard alone does it."""
    if LIBC:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def before_exec(parent: int) -> Callable[[], None]:
    """For `preexec_fn`: the child goes with this parent, even if that died before the child could say so."""

    def prepare() -> None:
        end_with_parent()
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def remains(sessions: Collection[int], token: str = "") -> list[int]:
    """Living processes of these sessions or with this token, as `os.kill` takes them (negative: a whole group)."""
    if not LINUX:
        return [-leader for leader in sessions if exists(-leader)]
    entries = (int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    return [pid for pid in entries if pid != os.getpid() and _belongs(pid, sessions, token)]


def _belongs(pid: int, sessions: Collection[int], token: str) -> bool:
    try:
        # "pid (name) state parent group session ...": the name may hold blanks and brackets.
        state, _, _, session = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[:4]
        if state in "ZX":
            return False
        return int(session) in sessions or (bool(token) and token_of(pid) == token)
    except (OSError, ValueError):  # it ended meanwhile
        return False


def token_of(pid: int) -> str:
    """The run that a process belongs to; "" for none, or for another user's process."""
    try:
        pairs = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    mark = f"{TOKEN}=".encode()
    return next((pair.removeprefix(mark).decode("ascii", "replace") for pair in pairs if pair.startswith(mark)), "")


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def tell(pid: int, number: signal.Signals) -> None:
    """Signal a process that may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def end(find: Callable[[], list[int]], *, patience: float) -> None:
    """End all that `find` finds: ask once, wait, then kill until nothing is found.

    Gives up after 5 s of killing: a process that sleeps in the kernel ends when it wakes.
    """
    if patience:
        for pid in find():
            tell(pid, signal.SIGTERM)
    asked_until = time.monotonic() + patience
    while (found := find()) and time.monotonic() < asked_until + 5:
        if time.monotonic() >= asked_until:
            for pid in found:
                tell(pid, signal.SIGKILL)
        time.sleep(0.05)


def start_guard(token: str) -> tuple[int, int]:
    """Fork the guard: its process id, and the pipe on which it is told, in one line, the sessions that there are now.

    It also keeps open what we hold locked, so that a new supervisor waits until it has finished.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(reading)
        return pid, writing
    try:
        os.close(writing)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _guard(reading, token)
    finally:
        os._exit(0)


def _guard(pipe: int, token: str) -> None:
    """Wait until the supervisor is gone, in whatever way, then end what is left of its run."""
    told = b""
    while chunk := os.read(pipe, 65536):
        told = (told + chunk)[-65536:]
    lines = told.split(b"\n")[:-1]
    sessions = frozenset(int(word) for word in lines[-1].split()) if lines else frozenset()
    end(lambda: remains(sessions, token), patience=GUARD_PATIENCE)
