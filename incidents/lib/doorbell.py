"""Wakes the pager: one datagram on a socket of the data folder. It carries nothing; the rows are the truth."""

import contextlib
import hashlib
import os
import select
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

PATH_LIMIT = 100  # a unix socket address holds 108 bytes on Linux, 104 on macOS


def path() -> Path:
    wanted = Path(settings.DATA_DIR) / "run" / "pager.sock"
    if len(os.fsencode(wanted)) <= PATH_LIMIT:
        return wanted
    return (
        Path(tempfile.gettempdir())
        / f"sickbay-{os.getuid()}-{hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12]}.sock"
    )


def ring() -> None:
    """Wake the pager if it listens; never blocks and never fails: the pager looks by itself every second."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bell:
        bell.setblocking(False)
        bell.connect(str(path()))
        bell.send(b".")


class Listener:
    """The pager's end of the bell."""

    def __init__(self, bell: socket.socket) -> None:
        self._bell = bell

    def wait(self, seconds: float) -> None:
        """Return when it rings, or after the time; rings that came meanwhile count as one."""
        ready, _, _ = select.select([self._bell], [], [], seconds)
        if ready:
            with contextlib.suppress(BlockingIOError):
                while self._bell.recv(64):
                    pass


@contextlib.contextmanager
def listen() -> Iterator[Listener]:
    """The newest pager of a data folder gets the rings; others look by the clock."""
    address = path()
    address.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bell:
        bell.bind(str(address))
        bell.setblocking(False)
        try:
            yield Listener(bell)
        finally:
            address.unlink(missing_ok=True)
