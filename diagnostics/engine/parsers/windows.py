"""A log of any length as windows of some megabyte, so that memory stays flat.

A window holds whole lines, with some more lines on both sides for those who look back and forth: every line is in the middle part of
exactly one window.

    kept:   | lines before | lines not yet given | begun line |
    given:  | lines before |   begin ... end     | lines after |
"""

from collections.abc import Iterator

from diagnostics.engine.parsers import line_ends, text, window_source
from diagnostics.engine.parsers.log import LONGEST_BYTES, Log
from diagnostics.engine.types import Readable

SIZE = 768 << 10  # of what is read at once: it stays in the cache of the processor, and its memory is used again
CONTEXT = 40  # lines on either side
LONGEST_LINE = 1 << 20  # bytes; of longer ones only the beginning is kept
_MOST_CONTEXT = CONTEXT * LONGEST_BYTES // 2  # bytes on either side
_ROOM = 16 << 10  # for the lines that are kept, as a rule
_HURRY_AFTER = 64 << 20


class Windows:
    """The windows of one log, once, each good until the next. `long_lines` are the numbers of lines that were too long, known after
    the last window.
    """

    def __init__(self, head: bytes, rest: Readable | None, *, number: int = 1, size: int = SIZE) -> None:
        self.long_lines: list[int] = []
        self._size = size
        self._source = window_source.of(head, rest)
        self._number = number  # of the line at _begin
        self._data: bytes | bytearray = b""
        self._begin = 0
        self._dirty = False  # colours or NULs stand in the line that is begun
        self._run = 0  # length of the line that is begun, as it was read

    def __iter__(self) -> Iterator[Log]:
        read, buffer = 0, bytearray(self._size + _ROOM)
        while True:
            kept = len(self._data)
            if kept + self._size > len(buffer):
                buffer = bytearray(kept + self._size)
            buffer[:kept] = self._data
            added = self._source.readinto(memoryview(buffer)[kept:])
            if not added:
                break
            read += added
            if read > _HURRY_AFTER:
                line_ends.hurry()
            self._take(buffer, kept, kept + added)
            end = self._end()
            if end > self._begin:
                yield from self._window(end)
        self._clean_last_line()
        if len(self._data) > self._begin:
            yield from self._window(len(self._data))

    def _window(self, end: int) -> Iterator[Log]:
        log = Log(self._data, self._number, self._begin, end)
        yield log
        self._number = log.number_at(end)
        first = self._back(end)
        self._data, self._begin = bytes(memoryview(self._data)[first:]), end - first

    def _take(self, buffer: bytearray, kept: int, stop: int) -> None:
        """What was read stays where it is, for to copy it costs as much as to read it, unless something must be taken out."""
        first_end, last_end = buffer.find(b"\n", kept, stop), buffer.rfind(b"\n", kept, stop)
        begun = self._run + (first_end if first_end >= 0 else stop) - kept
        if self._dirty or begun > LONGEST_LINE or text.is_dirty(buffer, kept, stop):
            self._add(self._shortened(bytes(memoryview(buffer)[kept:stop])))
            return
        self._run = begun if first_end < 0 else stop - last_end - 1
        self._data = buffer if stop == len(buffer) else bytes(memoryview(buffer)[:stop])

    def _shortened(self, chunk: bytes) -> bytes:
        """Without what goes beyond LONGEST_LINE of the line that was begun before; a chunk is shorter than that itself."""
        first_end = chunk.find(b"\n")
        length = first_end if first_end >= 0 else len(chunk)
        if self._run + length > LONGEST_LINE:
            if self._run <= LONGEST_LINE:
                self.long_lines.append(self._number + self._data.count(b"\n", self._begin))
            chunk = chunk[length:]
        self._run = self._run + length if first_end < 0 else len(chunk) - chunk.rfind(b"\n") - 1
        return chunk

    def _add(self, chunk: bytes) -> None:
        """Appends what was read; colours and NULs are taken out of whole lines, for the border may cut them."""
        last_end = self._data.rfind(b"\n") + 1
        lines, end, begun = (bytes(self._data[last_end:]) + chunk).rpartition(b"\n")
        self._data = bytes(self._data[:last_end]) + text.clean_block(lines) + end + begun
        self._dirty = text.is_dirty(begun)

    def _clean_last_line(self) -> None:
        if self._dirty:
            last_end = self._data.rfind(b"\n") + 1
            self._data = bytes(self._data[:last_end]) + text.clean_block(bytes(self._data[last_end:]))

    def _end(self) -> int:
        """Where the lines end that have enough lines after them."""
        return self._back(self._data.rfind(b"\n") + 1)

    def _back(self, start: int) -> int:
        """The start of the line CONTEXT lines before this one; of a nearer one, if they are very long."""
        lowest = max(start - _MOST_CONTEXT, 0)
        for _ in range(CONTEXT):
            if start == 0:
                break
            end = self._data.rfind(b"\n", lowest, start - 1)
            if end < 0:
                return start if lowest else 0
            start = end + 1
        return start
