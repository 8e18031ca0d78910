"""JSON with its text kept, so that a finding can show the very line that holds a value."""

import json
import re
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.types import EvidenceLine

DEEPEST = 200
_EXCERPT = 240
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class JsonText:
    text: str
    value: Any

    def locate(self, key: str, *, value: str = "", after: str = "") -> EvidenceLine:
        """The line with `"key": value`, the first after the text `after`; the whole document counts as line 1 if it has no lines."""
        start = max(self.text.find(after), 0) if after else 0
        pattern = re.compile(rf'"{re.escape(key)}"\s*:\s*{re.escape(value)}')
        match = pattern.search(self.text, start) or pattern.search(self.text)
        if not match:
            return EvidenceLine(0, f'"{key}": {value}'.rstrip())
        first = self.text.rfind("\n", 0, match.start()) + 1
        end = self.text.find("\n", match.start())
        line = self.text[first : end if end >= 0 else len(self.text)]
        if len(line) > _EXCERPT:
            line = self.text[match.start() : match.start() + _EXCERPT].split("\n")[0]
        return EvidenceLine(self.text.count("\n", 0, match.start()) + 1, line.strip())

    def line_of(self, value: str, *, after: int = 0) -> EvidenceLine | None:
        """The line with the beginning of this text, the first at or after the place `after`, else the first; None if it stands nowhere."""
        at = self.place_of(value, after=after)
        if at < 0:
            return None
        first = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line = self.text[first : end if end >= 0 else len(self.text)].strip()
        return EvidenceLine(
            self.text.count("\n", 0, at) + 1, line if len(line) <= _LONGEST_LINE else self.text[at : at + _LONGEST_LINE]
        )

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
