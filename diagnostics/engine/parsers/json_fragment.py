"""A piece cut out of a JSON document, made whole again: what was opened is closed, what was closed without an opening is left out.

"Events": [ {"MessageId": "IDRAC.2.9.TMP0114", "Severity": "Warning"} ],
"""

import json
import re
from typing import Any

from diagnostics.engine.parsers.json_text import DEEPEST

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],]')
_BEGIN = re.compile(r'^[ \t]*(?:[{\[]|"[^"\n]{1,80}"\s*:)', re.MULTILINE)
_MEMBER = re.compile(r'\s*"')
_HIDDEN_KEY = re.compile(r'^([ \t]*)\*+@\*+\.\*+"\s*:', re.MULTILINE)  # what a mail gateway makes of "@odata.id":
_TRAILING = re.compile(r",(\s*[}\]])")
_KEY_WITHOUT_VALUE = re.compile(r',?\s*"[^"\n]*"\s*:\s*$')
_LONGEST_KEY = 400  # characters, with the blanks before it
_CLOSES = {"{": "}", "[": "]"}
_LONGEST = 256 * 1024


def parse(text: str) -> Any:
    """The value, or None where it cannot be told what it was."""
    text = _HIDDEN_KEY.sub(r'\1"hidden":', text[:_LONGEST])
    begin = _BEGIN.search(text)
    if not begin:
        return None
    piece = text[begin.start() :]
    piece = "{" + piece if _MEMBER.match(piece) else piece
    try:
        return json.loads(_TRAILING.sub(r"\1", _closed(piece)), strict=False)
    except (ValueError, RecursionError):
        return None


def _closed(piece: str) -> str:
    """Up to the bracket that ends the piece, or with those that it lacks."""
    stack: list[str] = []
    at = 0
    for match in _TOKEN.finditer(piece):
        mark = match.group()
        if mark in _CLOSES:
            stack.append(mark)
            if len(stack) > DEEPEST:
                return ""
        elif mark in "}]":
            if not stack or _CLOSES[stack[-1]] != mark:
                return _ended(piece[: match.start()], stack)
            stack.pop()
            if not stack:
                return piece[: match.end()]
        at = match.end()
    return _ended(piece[:at] if _is_cut(piece[at:]) else piece, stack)


def _is_cut(rest: str) -> bool:
    """Words behind the last string or bracket that are no JSON: the prose below the piece."""
    return re.fullmatch(r"(?::\s*)?(?:true|false|null|-?[\d.eE+]+)?", rest.strip()) is None


def _ended(piece: str, stack: list[str]) -> str:
    piece = piece.rstrip().rstrip(",.").rstrip().rstrip(",")
    begin, end = piece[:-_LONGEST_KEY], piece[-_LONGEST_KEY:]
    return begin + _KEY_WITHOUT_VALUE.sub("", end) + "".join(_CLOSES[mark] for mark in reversed(stack))
