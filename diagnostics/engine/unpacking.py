"""A packed file or an archive taken apart in a child process with limits, so that what it holds can be kept as text.

The child writes for each part a line of JSON (its name and size) and its bytes, and at last a line with what could not be read.
"""

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO

from diagnostics.engine import bundle, bundle_archives, limited, wire
from diagnostics.engine.parsers.text import PACKED
from diagnostics.engine.types import Check, Part

MEMORY_BYTES = 512 << 20
SECONDS = 10.0
MOST_PARTS = 500
_CHUNK = 1 << 20


class CannotUnpack(Exception):
    """The file is broken, or holds more than the limits allow; the text says which."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    parts: tuple[Part, ...]
    problems: tuple[Check, ...]


def is_packed(data: bytes) -> bool:
    return data.startswith(PACKED) or bundle_archives.is_archive(data[: 1 << 20])


def unpack_limited(
    data: bytes, *, most_bytes: int, memory_bytes: int = MEMORY_BYTES, seconds: float = SECONDS
) -> Unpacked:
    """The files in it, up to `most_bytes` together; raises CannotUnpack, and `limited.CannotRun` where there is no room for it now."""
    try:
        return _unpacked(data, most_bytes, memory_bytes, seconds)
    except OSError as error:
        raise limited.CannotRun(f"it cannot be unpacked now: {error}") from error


def _unpacked(data: bytes, most_bytes: int, memory_bytes: int, seconds: float) -> Unpacked:
    with tempfile.NamedTemporaryFile() as packed, tempfile.TemporaryFile() as answer:
        packed.write(data)
        packed.flush()
        arguments = [packed.name, str(most_bytes), str(memory_bytes), str(seconds)]
        try:
            child = subprocess.run(
                [sys.executable, "-m", "diagnostics.engine.unpacking", *arguments],
                stdin=subprocess.DEVNULL, stdout=answer, stderr=subprocess.PIPE, timeout=2 * seconds, cwd=limited.ROOT,
                env=limited.environment(), check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise CannotUnpack(f"unpacking needed more than {seconds:g} s") from error
        if child.returncode:
            why = limited.ended_by(child.returncode, "unpacking", seconds)
            raise CannotUnpack(why or limited.last_line(child.stderr) or "it is damaged")
        answer.seek(0)
        return _read(answer)


def _read(answer: IO[bytes]) -> Unpacked:
    parts: list[Part] = []
    while True:
        head = json.loads(answer.readline())
        if "problems" in head:
            return Unpacked(tuple(parts), tuple(wire.rebuilt(Check, one) for one in head["problems"]))
        parts.append(Part(head["name"], answer.read(head["size"])))


def _child(path: str, most_bytes: int, memory_bytes: int, seconds: float) -> int:
    limited.limit(resource.RLIMIT_AS, memory_bytes)
    limited.limit(resource.RLIMIT_CPU, max(int(seconds), 1))
    try:
        opened = bundle.read(path, limits=bundle.Limits(parts=MOST_PARTS, archive_bytes=most_bytes))
        left = most_bytes
        for part in opened.parts:
            data = _whole(part, left)
            left -= len(data)
            sys.stdout.buffer.write(json.dumps({"name": part.name, "size": len(data)}).encode() + b"\n" + data)
    except MemoryError:
        return _refuse(f"it needs more than {memory_bytes >> 20} MiB of memory")
    except _TooLong:
        return _refuse(f"it holds more than {most_bytes >> 20} MiB")
    problems = [wire.plain(one) for one in opened.problems]
    sys.stdout.buffer.write(json.dumps({"problems": problems}).encode() + b"\n")
    return 0


class _TooLong(Exception):
    pass


def _whole(part: Part, left: int) -> bytes:
    chunks, size = [part.data], len(part.data)
    while part.rest and (chunk := part.rest.read(_CHUNK)):
        chunks.append(chunk)
        size += len(chunk)
        if size > left:
            raise _TooLong
    if size > left:
        raise _TooLong
    return b"".join(chunks)


def _refuse(why: str) -> int:
    sys.stderr.write(why + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(_child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
