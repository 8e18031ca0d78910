"""Streams that can be looked at before they are read, unpack themselves, and end where they break: what came before is kept."""

import bz2
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diagnostics.engine import bundle_gzip, bundle_zstd

HEAD = 1 << 20

Tell = Callable[[str], None]


@dataclass(slots=True)
class Budget:
    """How many bytes may still be read from one archive, with all that it holds."""

    most: int
    used: int = 0

    def spend(self, size: int) -> int:
        """How many of so many bytes may be had."""
        left = max(self.most - self.used, 0)
        self.used += size
        return min(size, left)


@dataclass(frozen=True, slots=True)
class Growth:
    """What unpacking may make of it: beyond `ratio_from` bytes at most `ratio` times the size that was read `packed`."""

    ratio: int
    ratio_from: int
    packed: Callable[[], int]

    def is_bomb(self, size: int) -> bool:
        return size > self.ratio_from and size > self.ratio * self.packed()


class Reader:
    """Reads `file` once. `tell` gets the reason where it ends too early; `has_told` is True then."""

    def __init__(self, file: Any, tell: Tell, *, growth: Growth | None = None, budget: Budget | None = None) -> None:
        self.file = file
        self.count = 0  # bytes had from the file
        self.has_told = False
        self._read: Callable[[int], bytes] = getattr(file, "read1", None) or file.read
        # What grows or has a budget is counted before it is given.
        self._into: Callable[[memoryview], int | None] | None = (
            None if growth or budget else getattr(file, "readinto", None)
        )
        self._tell = tell
        self._growth = growth
        self._budget = budget
        self._ahead = b""
        self._ended = False

    def head(self) -> bytes:
        """The first megabyte, less only if there is no more; `read` gives it again."""
        self._ahead = self.read(HEAD)
        return self._ahead

    def skip_head(self) -> None:
        self._ahead = b""

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, less only at the end."""
        chunks, left = [], size
        while left and (chunk := self._next(left)):
            chunks.append(chunk)
            left -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def readinto(self, space: memoryview, /) -> int:
        """Fills `space`, less of it only at the end; what a plain file holds is not copied."""
        filled = 0
        while filled < len(space) and (size := self._some(space[filled:])):
            filled += size
        return filled

    def _some(self, space: memoryview) -> int:
        if self._into and not self._ahead and not self._ended:
            size = self._tried(self._into, space) or 0
            self.count += size
            self._ended = self._ended or not size
            return size
        chunk = self._next(len(space))
        space[: len(chunk)] = chunk
        return len(chunk)

    def _next(self, most: int) -> bytes:
        if self._ahead:
            end = most if most >= 0 else None
            chunk, self._ahead = self._ahead[:end], self._ahead[end:] if end else b""
            return chunk
        if self._ended:
            return b""
        chunk = self._had(most if most >= 0 else HEAD)
        self._ended = self._ended or not chunk
        return chunk

    def _had(self, most: int) -> bytes:
        chunk = self._tried(self._read, most) or b""
        self.count += len(chunk)
        if self._growth and self._growth.is_bomb(self.count):
            self._end(
                f"not read beyond {self.count >> 20} MiB: it grows more than {self._growth.ratio} times, as only a bomb does"
            )
            return b""
        if self._budget and (granted := self._budget.spend(len(chunk))) < len(chunk):
            self._end(f"only the first {self._budget.most >> 20} MiB of the archive were read")
            return chunk[:granted]
        return chunk

    def _tried(self, read: Callable[[Any], Any], asked: Any) -> Any:
        try:
            return read(asked)
        except MemoryError:
            raise  # no fault of the file; who set the limit tells of it
        except Exception as error:  # noqa: BLE001  each way of packing has errors of its own; none may end the diagnosis
            self._end(f"broken or not readable after {self.count} bytes: {error}")
            return None

    def _end(self, reason: str) -> None:
        self.has_told = self._ended = True
        self._tell(reason)


def opener(head: bytes) -> Callable[[Any], Any] | None:
    """The way to unpack a file, by its first bytes; None if it is not packed."""
    return next((way for mark, way in _WAYS.items() if head.startswith(mark)), None)


_WAYS: dict[bytes, Callable[[Any], Any]] = {
    bundle_gzip.MAGIC: bundle_gzip.Gzip,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
    bundle_zstd.MAGIC: bundle_zstd.Zstd,
}
