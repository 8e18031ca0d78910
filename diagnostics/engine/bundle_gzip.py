"""Gzip streams, of which everything before a damage is given: the usual readers lose up to a buffer of it."""

import zlib
from importlib.util import find_spec
from typing import Any

MAGIC = b"\x1f\x8b"
_READ = 128 * 1024
_WITH_HEADER = 16 + zlib.MAX_WBITS


class Gzip:
    """A reader of the unpacked bytes; raises EOFError if the packed ones end too early."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._library = _library()
        self._member: Any = None  # the one that is being unpacked
        self._packed = b""

    def read1(self, size: int) -> bytes:
        while True:
            if not self._packed:
                self._packed = self._raw.read(_READ)
            if self._member is None:
                self._packed = self._packed.lstrip(b"\0") or self._raw.read(_READ).lstrip(b"\0")  # tapes are padded
                if not self._packed:
                    return b""
                self._member = self._library.decompressobj(_WITH_HEADER)
            if not self._packed:
                raise EOFError("it ends inside of the data")
            chunk = self._unpacked(size)
            if chunk:
                return chunk

    def _unpacked(self, size: int) -> bytes:
        chunk: bytes = self._member.decompress(self._packed, size)
        if self._member.eof:
            self._packed, self._member = self._member.unused_data, None
        else:
            self._packed = self._member.unconsumed_tail
        return chunk


def _library() -> Any:
    """isal is three times as fast, where it is installed."""
    if find_spec("isal"):
        from isal import isal_zlib

        return isal_zlib
    return zlib
