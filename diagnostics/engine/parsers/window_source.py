"""The bytes of a log as UTF-8, put where the next window wants them.

A log may begin with a mark: ef bb bf of UTF-8, which is left out, or ff fe and fe ff of UTF-16, which is turned into UTF-8.
"""

import codecs
from typing import Protocol

from diagnostics.engine.parsers import text
from diagnostics.engine.types import Readable

_CHUNK = 256 << 10


class Source(Protocol):
    def readinto(self, space: memoryview, /) -> int:
        """Fills `space`, less of it only at the end; says how much."""


def of(head: bytes, rest: Readable | None) -> Source:
    return _Wide(head, rest) if text.is_utf16(head) else _Plain(head.removeprefix(codecs.BOM_UTF8), rest)


class _Plain:
    def __init__(self, head: bytes, rest: Readable | None) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readinto(self, space: memoryview, /) -> int:
        size = min(len(self._head), len(space))
        space[:size] = self._head[:size]
        self._head = self._head[size:]
        return size + self._rest.readinto(space[size:]) if self._rest and size < len(space) else size


class _Wide:
    def __init__(self, head: bytes, rest: Readable | None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        self._ahead = self._decoder.decode(head).encode(errors="replace")
        self._rest = rest

    def readinto(self, space: memoryview, /) -> int:
        while len(self._ahead) < len(space) and self._rest and (chunk := self._rest.read(_CHUNK)):
            self._ahead += self._decoder.decode(chunk).encode(errors="replace")
        size = min(len(self._ahead), len(space))
        space[:size] = self._ahead[:size]
        self._ahead = self._ahead[size:]
        return size
