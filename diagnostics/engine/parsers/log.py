"""A log as a whole: finds the lines that hold one of many literals without looking at each line, and takes only those apart.

Line numbers are counted between hits, so that a quiet gigabyte costs one pass of `str.find` per literal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from diagnostics.engine.parsers import log_line
from diagnostics.engine.parsers.log_line import LogLine

# What journalctl -o json prints for a message with control characters: the literals cannot be seen in it.
_HIDDEN = ('"MESSAGE":[', '"MESSAGE" : [')
_SAMPLE_LINES = 60


@dataclass(frozen=True, slots=True)
class Log:
    text: str

    def lines_with(self, literals: Iterable[str]) -> Iterator[LogLine]:
        """The lines that hold at least one of the literals, in order, each once."""
        starts: set[int] = set()
        for literal in (*literals, *_HIDDEN):
            self._collect(literal, starts)
        number, last = 1, 0
        for start in sorted(starts):
            number += self.text.count("\n", last, start)
            last = start
            yield self._line(start, number)

    def _collect(self, literal: str, starts: set[int]) -> None:
        at = self.text.find(literal)
        while at >= 0:
            starts.add(self.text.rfind("\n", 0, at) + 1)
            end = self.text.find("\n", at)
            if end < 0:
                return
            at = self.text.find(literal, end)

    def _line(self, start: int, number: int) -> LogLine:
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        line = log_line.parse(self.text[start : min(end, start + log_line.LONGEST)], number=number)
        return replace(line, start=start)

    def before(self, line: LogLine, *, count: int) -> Iterator[LogLine]:
        """Up to `count` lines before this one, the nearest first."""
        start = line.start
        for step in range(1, count + 1):
            if start == 0:
                return
            start = self.text.rfind("\n", 0, start - 1) + 1
            yield self._line(start, line.number - step)

    def after(self, line: LogLine, *, count: int) -> Iterator[LogLine]:
        start = line.start
        for step in range(1, count + 1):
            start = self.text.find("\n", start) + 1
            if start == 0 or start >= len(self.text):
                return
            yield self._line(start, line.number + step)

    def sample(self) -> list[LogLine]:
        """The first lines that are not empty, taken apart, to judge what kind of text this is."""
        head = self.text[: 64 * 1024].split("\n")
        rows = [(n, row) for n, row in enumerate(head, 1) if row.strip()]
        return [log_line.parse(row, number=n) for n, row in rows[:_SAMPLE_LINES]]

    def tail(self) -> list[LogLine]:
        """The last lines that are not empty, taken apart, to judge how fresh this is and whose it is."""
        rows = [row for row in self.text[-64 * 1024 :].split("\n") if row.strip()]
        return [log_line.parse(row, number=number) for number, row in enumerate(rows[-_SAMPLE_LINES:], 1)]
