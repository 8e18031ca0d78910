"""This machine: commands without a shell, with a deadline and a cap; files and folders as they are."""

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress

from diagnostics.probes.base import MEBIBYTE, Result, Space, newest_lines

# Translated or coloured output would be a format of its own.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "SYSTEMD_COLORS": "0"}
CHUNK = 64 * 1024


class Local:
    """The transport to the machine that Sickbay itself runs on."""

    is_here = True

    def run(
        self,
        command: tuple[str, ...],
        *,
        deadline_seconds: float,
        max_bytes: int = 16 * MEBIBYTE,
        newest: bool = False,
    ) -> Result:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin", **ENVIRONMENT},
                start_new_session=True,  # so that its children can be ended with it
            )
        except OSError as error:
            return Result(None, problem=f"{command[0]}: {error.strerror}")
        with process:
            try:
                return _collect(process, time.monotonic() + deadline_seconds, max_bytes, newest=newest)
            finally:
                _end(process)

    def read(self, path: str, *, max_bytes: int = MEBIBYTE) -> bytes:
        with open(path, "rb") as file:
            return file.read(max_bytes)

    def names(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(path))
        except OSError:
            return []

    def space(self, path: str) -> Space:
        values = os.statvfs(path)
        unit = values.f_frsize or values.f_bsize
        return Space(
            size=values.f_blocks * unit,
            used=(values.f_blocks - values.f_bfree) * unit,
            available=values.f_bavail * unit,
            inodes=values.f_files,
            inodes_used=values.f_files - values.f_ffree,
        )

    def recorded(self, name: str) -> bytes | None:
        return None


def _collect(process: "subprocess.Popen[bytes]", until: float, max_bytes: int, *, newest: bool) -> Result:
    out, err = bytearray(), bytearray()
    is_cut = False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, out)  # type: ignore[arg-type]
        selector.register(process.stderr, selectors.EVENT_READ, err)  # type: ignore[arg-type]
        while selector.get_map():
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready or time.monotonic() > until:  # a flood is ready at any time
                return Result(None, bytes(out), bytes(err), problem="it did not end in time and was stopped")
            for key, _ in ready:
                chunk = os.read(key.fd, CHUNK)
                key.data.extend(chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
            if newest and len(out) > 2 * max_bytes:  # not with each chunk: every time the rest is copied
                del out[: -max_bytes - 1]
                is_cut = True
            if len(err) > max_bytes or (not newest and len(out) + len(err) > max_bytes):
                return Result(0, bytes(out[:max_bytes]), bytes(err[:max_bytes]), is_cut=True)
    try:
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Result(None, bytes(out), bytes(err), problem="it did not end in time and was stopped")
    if not newest:
        return Result(code, bytes(out), bytes(err))
    return Result(code, newest_lines(bytes(out), max_bytes), bytes(err), is_cut=is_cut or len(out) > max_bytes)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Its whole process group, whether it still runs or left children behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
