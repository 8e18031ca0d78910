"""What has to hold before anything starts: a data folder of our own, nobody else in it, a free port.

Standard library only.
"""

import errno
import fcntl
import http.client
import os
import socket
import time
from pathlib import Path

from config import processes
from config.env import Environment

LONGEST_TIDYING = 20.0  # seconds that the guard of a killed run may take


class CannotStart(Exception):
    """What is in the way and what to do, in one line."""


def address(env: Environment) -> tuple[str, int]:
    return env.text("HOST") or "127.0.0.1", env.integer("PORT", 8000, low=1, high=65535)


def url(env: Environment) -> str:
    """Where a browser on this machine finds the web."""
    host, port = address(env)
    return f"http://{'localhost' if host in ('127.0.0.1', '0.0.0.0', '::', '::1') else host}:{port}/"  # noqa: S104


def make_ours(data: Path) -> None:
    """The data folder, for its owner only. A folder that others use for other things is refused, not locked up."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if data.stat().st_mode & 0o077:
            if any(data.iterdir()) and not (data / "run").is_dir():
                raise CannotStart(
                    f"{data} is open to others and holds other things. Set SICKBAY_DATA_DIR to a folder of its own."
                )
            data.chmod(0o700)
        (data / "run").mkdir(mode=0o700, exist_ok=True)
        (data / "run" / "supervisor.lock").touch(mode=0o600)
    except OSError as error:
        raise CannotStart(
            f"{data} cannot hold the data: {error.strerror}. Set SICKBAY_DATA_DIR to a folder that you may write to."
        ) from error


def claim(data: Path, where: str) -> int:
    """The lock of this data folder, held to the end of the run; the guard of a killed run is waited for."""
    lock = os.open(data / "run" / "supervisor.lock", os.O_RDWR)
    until = time.monotonic() + LONGEST_TIDYING
    while not _locked(lock):
        pid, _, other = os.pread(lock, 4096, 0).decode().strip().partition(" ")
        if (pid and processes.exists(int(pid))) or time.monotonic() > until:
            raise CannotStart(
                f"Sickbay is already running from {data} (process {pid}, {other}). "
                "Stop it first, or set SICKBAY_DATA_DIR and PORT for a second one."
            )
        time.sleep(0.2)
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} {where}\n".encode(), 0)
    return lock


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_values(env: Environment) -> None:
    """What cannot be read is said before anything starts; what else is wrong, `manage.py check` says."""
    if env.problems:
        worst = env.problems[0]
        raise CannotStart(f"{worst.name} is set to {worst.value!r}, which cannot be used. {worst.hint}")


def check_free(env: Environment) -> None:
    """Whether the web can listen where it should; says what to do if not."""
    host, port = address(env)
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except socket.gaierror as error:
        raise CannotStart(
            f"HOST={host} is no address of this machine. Set it to 127.0.0.1, or to 0.0.0.0 for all."
        ) from error
    except OSError as error:
        raise CannotStart(_why_not(error, host, port)) from error


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use. Free it, or take another: PORT={min(port + 1, 65535)} make run"
    if error.errno == errno.EACCES:
        return f"Port {port} needs the rights of root. Take one above 1023: PORT=8000 make run"
    return (
        f"The web cannot listen on {host}, port {port}: {error.strerror}. Set HOST and PORT to what this machine has."
    )


def answers(env: Environment) -> bool:
    """Whether the web answers; that it takes connections says nothing, it does so before its workers are up."""
    host, port = address(env)
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status > 0
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
