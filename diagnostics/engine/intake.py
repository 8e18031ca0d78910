"""How much of a piece of evidence is held in memory: a log its beginning, whatever is long; anything else the whole, up to a limit.

The rest of a log is read in windows while it is judged.
"""

import io
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from diagnostics.engine.judges.formats import form_of
from diagnostics.engine.parsers import sections
from diagnostics.engine.parsers.detect import Detected, detect
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.windows import LONGEST_LINE, Windows
from diagnostics.engine.types import Check, Part

HEAD = 1 << 20  # bytes that tell what kind of evidence it is
WHOLE = 64 << 20  # bytes; of a document that is longer only its beginning is judged
_FIRST_LINES = 32 << 10
_MOST_GAPS = 3
_BLANK = b"\0 \t\r\n"
_DOCUMENT = re.compile(rb"\s*(?:\[\s*[{\[]|\{\s*[\"}])")


def hold(part: Part) -> tuple[Part, list[Check]]:
    """The part with as much of it in memory as its kind needs, and what that leaves out."""
    part = _with_head(part)
    if part.rest is None or _is_endless(part):
        return part, []
    data = part.data + part.rest.read(WHOLE - len(part.data))
    more = part.rest.read(1)
    if not more:
        return replace(part, data=data, rest=None), []
    gap = Check(
        part.name, (), "could_not_check", f"it is long: beyond {WHOLE >> 20} MiB only lines of a log are looked for"
    )
    return replace(part, data=data + more), [gap]


def recognise(part: Part) -> Detected:
    """What kind of evidence it is. A long log shows itself in its first lines; to look for all other kinds takes long."""
    if part.rest is not None:
        found = _in_first_lines(part.data[:_FIRST_LINES])
        if _is_judged_by_line(found.kind) and found.kind != "text":
            return found
    return detect(part.data)


def windows(part: Part, log: Log) -> Iterable[Log]:
    """What the judges of logs look at: `log` is the part as it was recognised, or the beginning of it."""
    return [log] if part.rest is None else Windows(part.data, part.rest)


def gaps(part: Part, given: Iterable[Log]) -> list[Check]:
    """The lines that were cut, once all windows are judged."""
    if not isinstance(given, Windows) or not given.long_lines:
        return []
    before = part.first_line - 1
    lines = ", ".join(str(before + number) for number in given.long_lines[:_MOST_GAPS])
    more = f" and {len(given.long_lines) - _MOST_GAPS} more" if len(given.long_lines) > _MOST_GAPS else ""
    reason = f"only the beginning was read of what is longer than {LONGEST_LINE >> 20} MiB: line {lines}{more}"
    return [Check(part.name, (), "could_not_check", reason)]


def _with_head(part: Part) -> Part:
    """With a beginning that says something: a log may begin with a megabyte of NULs after a power cut."""
    if part.rest is None:
        if len(part.data) <= HEAD:
            return part
        part = replace(part, data=part.data[:HEAD], rest=_after(part.data, HEAD))
    while part.rest and not part.data.strip(_BLANK) and (data := part.rest.read(HEAD)):
        part = replace(part, data=data, first_line=part.first_line + part.data.count(b"\n"))
    return part


def _after(data: bytes, start: int) -> io.BytesIO:
    rest = io.BytesIO(data)
    rest.seek(start)
    return rest


def _is_endless(part: Part) -> bool:
    """True for what is judged line by line, whatever comes."""
    if _is_document(part.data) or sections.split(part).found != [sections.Section(part)]:
        return False
    return _is_judged_by_line(recognise(part).kind)


def _is_judged_by_line(kind: str) -> bool:
    form = form_of(kind)
    return form is not None and form.has_log and not form.judges


@lru_cache(maxsize=1)
def _in_first_lines(head: bytes) -> Detected:
    return detect(head)


def _is_document(head: bytes) -> bool:
    """True for JSON, but for one document a line."""
    if not _DOCUMENT.match(head):
        return False
    line, end, after = head.lstrip().partition(b"\n")
    try:
        return not (end and after.strip() and json.loads(line) is not None)
    except (ValueError, RecursionError):
        return True
