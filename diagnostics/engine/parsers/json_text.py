"""JSON with its text kept, so that a finding can show the very line that holds a value."""

import json
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from diagnostics.engine.types import EvidenceLine

DEEPEST = 200
NEAR = 64 * 1024  # characters behind a value within which the next is looked for
_EXCERPT = 240
_LONGEST_LINE = 300
_BEGINNING = 40  # characters by which values of one key are told apart


class _Places:
    """Where keys and lines stand in a text, so that it is not read again from its start for each of its rows: they are asked for in
    the order in which they stand, as a rule.
    """

    def __init__(self) -> None:
        self._keys: dict[str, list[tuple[int, int]]] = {}  # where each begins, and where its value does
        self._values: dict[tuple[str, int], dict[str, list[int]]] = {}
        self._line = (0, 1)
        self._anchor = 0

    def key(self, text: str, key: str, value: str, start: int) -> int:
        """The first `"key": value` at or after `start`, else the first; -1 if there is none. The value may be the beginning of one."""
        found = self._with(text, key, value)
        at = bisect_left(found, start)
        return found[at] if at < len(found) else found[0] if found else -1

    def _with(self, text: str, key: str, value: str) -> list[int]:
        size = len(value)
        if (key, size) not in self._values:
            if key not in self._keys:
                pattern = re.compile(rf'"{re.escape(key)}"\s*:\s*')
                self._keys[key] = [match.span() for match in pattern.finditer(text)]
            table: dict[str, list[int]] = {}
            for begin, end in self._keys[key]:
                table.setdefault(text[end : end + size], []).append(begin)
            self._values[key, size] = table
        return self._values[key, size].get(value, [])

    def anchor(self, text: str, words: str) -> int:
        """Where these words stand, from the last that were asked for on, else the first of them; 0 if they stand nowhere."""
        at = text.find(words, self._anchor) if words else 0
        self._anchor = at if at >= 0 else max(text.find(words), 0)
        return self._anchor

    def line(self, text: str, at: int) -> int:
        before, number = self._line if self._line[0] <= at else (0, 1)
        number += text.count("\n", before, at)
        self._line = (at, number)
        return number


@dataclass(frozen=True, slots=True)
class JsonText:
    text: str
    value: Any
    _places: _Places = field(default_factory=_Places, compare=False, repr=False)

    def locate(self, key: str, *, value: str = "", after: str | int = 0) -> EvidenceLine:
        """The line with `"key": value`, the first after the text or the place `after`; a document without lines is line 1."""
        start = after if isinstance(after, int) else self._places.anchor(self.text, after) if after else 0
        at = self._places.key(self.text, key, value, start)
        if at < 0:
            return EvidenceLine(0, f'"{key}": {value}'.rstrip())
        return EvidenceLine(self._places.line(self.text, at), self._shown(at, _EXCERPT))

    def locate_text(self, key: str, value: str, *, after: str | int = 0) -> EvidenceLine:
        """As `locate`, for a value that is this text: as JSON may write it, by its beginning."""
        beginnings = (form[:-1][:_BEGINNING] for form in _forms(value[:_BEGINNING]))
        found = [self.locate(key, value=beginning, after=after) for beginning in beginnings]
        return next((line for line in found if line.number), found[0])

    def line_of(self, value: str, *, after: int = 0) -> EvidenceLine | None:
        """The line with the beginning of this text, the first at or after the place `after`, else the first; None if it stands nowhere."""
        at = self.place_of(value, after=after)
        if at < 0:
            return None
        return EvidenceLine(self._places.line(self.text, at), self._shown(at, _LONGEST_LINE))

    def _shown(self, at: int, most: int) -> str:
        """The line with this place; of a longer one what stands there."""
        lowest = max(at - most, 0)
        first = self.text.rfind("\n", lowest, at) + 1
        end = self.text.find("\n", at, at + most)
        end = end if end >= 0 else min(at + most, len(self.text))
        is_whole = (first > 0 or lowest == 0) and end - first <= most and self.text[end : end + 1] in ("", "\n")
        return self.text[first if is_whole else at : end].strip()

    def place_of(self, value: str, *, after: int = 0) -> int:
        """Where the beginning of this text stands as JSON writes it: the first at or after the place `after`, else the first; else -1."""
        places = (
            self.text.find(form[1:-1][:_EXCERPT], start)
            for form in _forms(value)
            for start in (after, 0)
            if len(form) > 2
        )
        return next((at for at in places if at >= 0), -1)

    def end_of(self, value: str, start: int, end: int) -> int:
        """Where this whole string ends that begins between two places; `start` if none does."""
        ends = (at + len(form) for form in _forms(value) if (at := self.text.find(form, start, end)) >= 0)
        return next(ends, start)


def _forms(value: str) -> tuple[str, ...]:
    """A string as JSON may write it."""
    return tuple(dict.fromkeys((json.dumps(value), json.dumps(value, ensure_ascii=False))))


def parse(text: str) -> JsonText | None:
    """None if this is no JSON document. Nesting is measured before it is parsed: a deep one would exhaust the stack."""
    head = text.lstrip()[:1]
    if head not in ("{", "[") or _depth(text) > DEEPEST:
        return None
    try:
        return JsonText(text, json.loads(text))
    except (ValueError, RecursionError):
        return None


def _depth(text: str) -> int:
    depth = deepest = 0
    for mark in re.finditer(r"[\[\]{}]", text):
        depth += 1 if mark.group() in "[{" else -1
        deepest = max(deepest, depth)
        if deepest > DEEPEST:
            break
    return deepest
