"""A log, or a window of one: finds the lines that hold one of many literals without looking at each line, and takes only those apart.

Line numbers are counted between hits, so that a quiet gigabyte costs one pass of the scanner.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from diagnostics.engine.parsers import line_ends, log_line
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.parsers.scan import Scanner

# What journalctl -o json prints for a message with control characters: the literals cannot be seen in it.
_HIDDEN = ('"MESSAGE":[', '"MESSAGE" : [')
_SAMPLE_LINES = 60
_MOST_KNOWN = 4096  # sets of literals; a log repeats few of them
LONGEST_BYTES = 4 * log_line.LONGEST  # of a line that are looked at


class Literals:
    """What to look for; made once and used for every log. A literal with a quote or a backslash is looked for as JSON writes it too."""

    def __init__(self, literals: Sequence[str]) -> None:
        self.texts: list[str] = []
        patterns: list[bytes] = []
        for literal in dict.fromkeys(literals):
            for form in dict.fromkeys((literal, *_json_forms(literal))):
                self.texts.append(literal)
                patterns.append(form.encode())
        self._hidden_from = len(patterns)
        self._known: dict[tuple[int, ...], tuple[str, ...]] = {}
        self.scanner = Scanner([*patterns, *(hidden.encode() for hidden in _HIDDEN)])

    def of(self, indexes: Sequence[int], line: LogLine) -> tuple[str, ...]:
        """The literals of these indexes; for a line whose message was hidden, those that its message holds."""
        key = tuple(indexes)
        if found := self._known.get(key):
            return found
        if max(key) >= self._hidden_from:
            return tuple(text for text in dict.fromkeys(self.texts) if text in line.message)
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        found = self._known[key] = tuple(dict.fromkeys(self.texts[index] for index in key))
        return found


def _json_forms(literal: str) -> tuple[str, ...]:
    from json import dumps

    return dumps(literal)[1:-1], dumps(literal, ensure_ascii=False)[1:-1]


@dataclass(eq=False, slots=True)
class Log:
    """`data` is clean UTF-8 (see parsers/text), a bytearray where its memory is used again for what follows.

    Only lines that start in `begin:end` are hits; what lies around is for looking back and forth. `number` is that of the line at `begin`.
    """

    data: bytes | bytearray
    number: int = 1
    begin: int = 0
    end: int | None = None
    _counted: tuple[int, int] = field(default=(0, 0), init=False)  # an offset, and the number of its line

    def __post_init__(self) -> None:
        self._counted = self.begin, self.number

    @classmethod
    def of(cls, text: str) -> "Log":
        return cls(text.encode(errors="replace"))

    @property
    def text(self) -> str:
        return _decoded(bytes(self.data))

    def number_at(self, offset: int) -> int:
        """The number of the line that starts here. Asked in rising order, every byte is counted once."""
        last, number = self._counted if self._counted[0] <= offset else (self.begin, self.number)
        number += line_ends.count(self.data, last, offset)
        self._counted = offset, number
        return number

    def lines_with(self, literals: Literals) -> Iterator[tuple[LogLine, tuple[str, ...]]]:
        """The lines that hold at least one of the literals, in order, each once, with what each holds."""
        for start, indexes in self._starts(literals):
            line = self._line(start, self.number_at(start))
            yield line, literals.of(indexes, line)

    def _starts(self, literals: Literals) -> Iterator[tuple[int, list[int]]]:
        """Where lines with literals start. Beyond what is looked at of a line nothing counts, however it was cut."""
        begin, end = self.begin, len(self.data) if self.end is None else self.end
        start, stop = 0, -1
        indexes: list[int] = []
        for place, index in literals.scanner.find(memoryview(self.data)[begin:end]):
            at = place + begin
            if at >= stop:
                if indexes:
                    yield start, indexes
                start, stop, indexes = self.data.rfind(b"\n", begin, at) + 1 or begin, self._stop(at), []
            if at - start < LONGEST_BYTES:
                indexes.append(index)
        if indexes:
            yield start, indexes

    def _stop(self, at: int) -> int:
        stop = self.data.find(b"\n", at)
        return len(self.data) if stop < 0 else stop

    def _line(self, start: int, number: int) -> LogLine:
        raw = self.data[start : min(self._stop(start), start + LONGEST_BYTES)]
        return log_line.parse(raw.decode(errors="replace"), number=number, start=start)

    def before(self, line: LogLine, *, count: int) -> Iterator[LogLine]:
        """Up to `count` lines before this one, the nearest first."""
        start = line.start
        for step in range(1, count + 1):
            if start == 0:
                return
            start = self.data.rfind(b"\n", 0, start - 1) + 1
            yield self._line(start, line.number - step)

    def after(self, line: LogLine, *, count: int) -> Iterator[LogLine]:
        start = line.start
        for step in range(1, count + 1):
            start = self.data.find(b"\n", start) + 1
            if start == 0 or start >= len(self.data):
                return
            yield self._line(start, line.number + step)

    def sample(self) -> list[LogLine]:
        """The first lines that are not empty, taken apart, to judge what kind of text this is."""
        head = self.data[: 64 * 1024].decode(errors="replace").split("\n")
        rows = [(n, row) for n, row in enumerate(head, self.number) if row.strip()]
        return [log_line.parse(row, number=n) for n, row in rows[:_SAMPLE_LINES]]

    def tail(self) -> list[LogLine]:
        """The last lines that are not empty, taken apart, to judge how fresh this is and whose it is."""
        rows = [row for row in self.data[-64 * 1024 :].decode(errors="replace").split("\n") if row.strip()]
        return [log_line.parse(row, number=number) for number, row in enumerate(rows[-_SAMPLE_LINES:], 1)]


@lru_cache(maxsize=2)
def _decoded(data: bytes) -> str:
    return data.decode(errors="replace")
