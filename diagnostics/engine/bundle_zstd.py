"""Zstandard streams whose end is checked: the decompressor itself says nothing where a file was cut off.

Frames follow one another (RFC 8878): magic, header, blocks of three bytes of header and their content, perhaps a checksum.
"""

from collections.abc import Generator
from typing import Any

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte 50 to 5f
_READ = 256 * 1024
_LARGEST_WINDOW = 1 << 27
_RLE = 1

# The walk asks for so many bytes; a negative number means that it does not need to see them.
Walk = Generator[int, bytes, None]


class Zstd:
    """A reader of the unpacked bytes; raises EOFError if the packed ones end too early."""

    def __init__(self, raw: Any) -> None:
        import zstandard  # heavy, and only needed for this one kind of file

        self._raw = raw
        self._frames = Frames()
        decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        source: Any = self  # all that is asked of it is to read
        self._stream = decompressor.stream_reader(source, read_size=_READ, read_across_frames=True)

    def read(self, size: int) -> bytes:
        """The packed bytes, for the decompressor."""
        chunk: bytes = self._raw.read(size)
        self._frames.see(chunk)
        return chunk

    def read1(self, size: int) -> bytes:
        """The unpacked bytes."""
        chunk: bytes = self._stream.read1(size)
        if not chunk and not self._frames.at_border:
            raise EOFError("it ends inside of a frame")
        return chunk


class Frames:
    """Follows the borders of frames and blocks through a stream that is seen in pieces."""

    def __init__(self) -> None:
        self._walk = _walk()
        self._want = next(self._walk)
        self._held = b""
        self.at_border = True

    def see(self, chunk: bytes) -> None:
        at = 0
        while at < len(chunk):
            taken = min(abs(self._want) - len(self._held), len(chunk) - at)
            if self._want < 0:
                self._want += taken
            else:
                self._held += chunk[at : at + taken]
            at += taken
            self.at_border = False
            self._go_on()

    def _go_on(self) -> None:
        while len(self._held) == abs(self._want):
            done, self._held = self._held, b""
            self._want = self._walk.send(done)
            self.at_border = self._want == len(MAGIC)


def _walk() -> Walk:
    while True:
        magic = yield len(MAGIC)
        if magic[1:] == _SKIPPABLE:
            yield -int.from_bytes((yield 3) + (yield 1), "little")
            continue
        kind = (yield 1)[0]
        yield -_header_length(kind)
        is_last = False
        while not is_last:
            block = int.from_bytes((yield 3), "little")
            is_last = bool(block & 1)
            yield -(1 if block >> 1 & 3 == _RLE else block >> 3)
        if kind & 4:
            yield -3  # the checksum is of four bytes; asked for in two so that only a magic is asked for as four
            yield -1


def _header_length(kind: int) -> int:
    """What follows the first byte of a frame's header: window, dictionary, size of the content."""
    is_single = bool(kind & 32)
    content = (1 if is_single else 0, 2, 4, 8)[kind >> 6]
    return (not is_single) + (0, 1, 2, 4)[kind & 3] + content
