"""Event logs as the vendors' own tools write them: a severity and a sentence for each event.

Severity,Class,Last Update,Initial Update,Count,Description                                  iLO (IML, event log), also XCC, iDRAC, iBMC
Event Num  | Event Time           | Alarm Level | Event Code | Event Description             iBMC ipmcget
ID    Generated At           Severity  Event                                                 columns of spaces
/map1/log1/record41 ... severity=Critical ... description=Fan Failure (Fan 2)                iLO show, one field a line
3  E  2026-11-08T03:40:11.120  Power supply 2 failed.                                        XCC and IMM readlog
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers import ipmi_time
from diagnostics.engine.parsers.ipmi_event import Event

_AT = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?"
_LIST_HEAD = re.compile(r"\s*(?:ID|Severity)\s{2,}(?=.*\b(?:Severity|Source)\b).*\b(?:Event|Message|Description)\s*$")
_LIST_ROW = re.compile(
    rf"\s*(?:\d{{1,6}}\s+)?(?:(?P<at>{_AT})\s+)?(?P<severity>Critical|Major|Minor|Error|Warning|Caution|Normal|Info\w*|OK)\s+"
    rf"(?:\w+\s+(?P<at2>{_AT})\s+)?(?P<rest>\S.*)$"
)
_READLOG = re.compile(
    r"\s*\d{1,6}\s+(?P<level>[IWE])\s+(?:SERVPROC\s+|POST\s+|\w+\s+)?"
    r"(?P<day>\d{4}-\d\d-\d\d|\d\d/\d\d/\d{2,4})[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\s+(?P<rest>\S.*)$"
)
# A row of iLO's export without its head: severity, class, two stamps, a count, the sentence.
_EXPORTED = re.compile(
    r"\s*(?P<severity>Critical|Caution|Repaired|Informational|Warning),(?P<what>[A-Za-z][\w /&-]{1,40}),"
    r"(?P<at>\d\d/\d\d/\d{4} \d\d:\d\d(?::\d\d)?),[^,]*,(?P<count>\d{1,5}),(?P<rest>\S.*)$"
)
_LEVELS = {"I": "informational", "W": "warning", "E": "critical"}
_PROPERTY = re.compile(
    r"\s*(?P<key>number|SeqNumber|severity|date|time|Timestamp|description|Message|count)\s*=\s*(?P<value>.*?)\s*$",
    re.IGNORECASE,
)
_MARKS = ({"number", "severity", "description"}, {"seqnumber", "severity", "message"})  # iLO, racadm lclog view
_LONGEST_HEAD = 400
_HEAD = re.compile(r"[Ss]everity|SEVERITY|[Ll]evel\b|LEVEL\b")

# The columns by the words of their heads, in the order in which they are preferred.
_SEVERITY = ("severity", "alarm level", "event severity")
_SAID = ("description", "event description", "message", "event message", "message description", "alert", "event")
_WHEN = (
    "last update", "date/time", "date and time", "generated at", "generation time", "event time", "timestamp", "time stamp", "created",
    "date", "time",
)  # fmt: skip
_RECORD = ("id", "event num", "eid", "event id", "index", "no.", "no", "seq", "seqnumber", "record")
_SENSOR = ("sensor", "sensor name")
# One of these too, for tables of other programs have a severity and a message as well.
_TELLING = frozenset(
    [
        "initial update",
        "event code",
        "message id",
        "messageid",
        "common id",
        "eid",
        "event num",
        "sensor",
        "sensor name",
        "sensor type",
    ]
)
_STATUS = ("status", "state", "event type")
_DOWN = ("deasserted", "deassert", "deassertion event", "deassertion", "cleared", "repaired")
_DIRECTION = re.compile(r"\s*-?\s*\b(?P<word>(?:de)?assert(?:ed|ion)?)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The heads of the columns in small letters; a column that the table lacks has the place -1."""

    mark: str
    heads: tuple[str, ...]

    def of(self, names: tuple[str, ...]) -> int:
        return _place(self.heads, names)

    @property
    def width(self) -> int:
        return len(self.heads)


def events(lines: list[str]) -> list[Event]:
    return [*_listed(lines), *_properties(lines)]


def is_head(raw: str) -> bool:
    return _LIST_HEAD.match(raw) is not None or _columns(raw) is not None


def is_record(rows: list[str]) -> bool:
    """Rows of readlog, or the properties of an iLO record."""
    keys = {match["key"].lower() for row in rows[:200] if "=" in row and (match := _PROPERTY.match(row))}
    few = rows[:50]
    listed = sum(bool(_READLOG.match(row) or _EXPORTED.match(row)) for row in few)
    return any(marks <= keys for marks in _MARKS) or listed * 2 > len(few)


def _listed(lines: list[str]) -> Iterator[Event]:
    """Below a head with Severity each row has a severity and a sentence; a row of readlog tells by itself what it is."""
    inside = False
    for number, raw in enumerate(lines, 1):
        if not inside and _LIST_HEAD.match(raw):
            inside = True
        elif inside and (match := _LIST_ROW.match(raw)):
            yield _sentence(match["rest"], match["severity"], match["at"] or match["at2"] or "", number, raw)
        elif match := _EXPORTED.match(raw):
            made = _sentence(match["rest"].strip('"'), match["severity"], match["at"], number, raw)
            yield _directed(made, match["severity"])._replace(times=_times(match["count"]))
        elif match := _READLOG.match(raw):
            yield _sentence(match["rest"], _LEVELS[match["level"]], f"{match['day']} {match['clock']}", number, raw)


def tabled(lines: list[str]) -> Iterator[Event]:
    """The rows below a line that names its columns: a severity and a text among them."""
    columns: _Columns | None = None
    for number, raw in enumerate(lines, 1):
        if found := _columns(raw):
            columns = found
        elif columns and raw.count(columns.mark) >= columns.width - 1 and (event := _of_row(raw, columns, number)):
            yield event


def _columns(raw: str) -> _Columns | None:
    if len(raw) > _LONGEST_HEAD or not _HEAD.search(raw):
        return None
    mark = next((mark for mark in ("|", "\t", ",", ";") if raw.count(mark) >= 2), "")
    heads = tuple(cell.lower() for cell in _cells(raw, mark)) if mark else ()
    severity, said = _place(heads, _SEVERITY), _place(heads, _SAID)
    if severity < 0 or said < 0 or not _TELLING.intersection(heads):
        return None
    return _Columns(mark, heads)


def _place(heads: tuple[str, ...], names: tuple[str, ...]) -> int:
    return next((heads.index(name) for name in names if name in heads), -1)


def _cells(raw: str, mark: str) -> list[str]:
    row = raw.strip().strip("|") if mark == "|" else raw.strip()
    try:
        return [cell.strip() for cell in next(csv.reader([row], delimiter=mark), [])]
    except csv.Error:  # a cell of more than 128 Ki characters is none
        return []


def _of_row(raw: str, columns: _Columns, number: int) -> Event | None:
    cells = _cells(raw, columns.mark)
    if len(cells) < columns.width:
        return None
    last = columns.width - 1
    if columns.of(_SAID) == last:  # a sentence may hold the mark
        cells[last:] = [columns.mark.join(cells[last:])]

    def cell(*names: str) -> str:
        place = columns.of(names)
        return cells[place] if place >= 0 else ""

    stamp = cell(*_WHEN)
    clock = cell("time") if "date" in columns.heads and ":" not in stamp else ""
    severity, record = cell(*_SEVERITY), cell(*_RECORD)
    made = _sentence(cell(*_SAID), severity, f"{stamp} {clock}".strip(), number, raw)
    return _directed(made, cell(*_STATUS) or severity)._replace(
        name=cell(*_SENSOR), times=_times(cell("count")), record=int(record) if _is_number(record) else -1
    )


def _directed(event: Event, status: str) -> Event:
    """Asserted or not, by its status or by the last word of the sentence."""
    if match := _DIRECTION.search(event.event):
        return event._replace(
            event=event.event[: match.start()], is_asserted=not match["word"].lower().startswith("de")
        )
    return event._replace(is_asserted=status.lower() not in _DOWN)


def _times(text: str) -> int:
    return int(text) if _is_number(text) and int(text) else 1


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 7


def _properties(lines: list[str]) -> Iterator[Event]:
    """A record of iLO's command line; its number, or the prompt with the next one, begins it."""
    found: dict[str, tuple[str, int, str]] = {}
    for number, raw in enumerate([*lines, "number=0"], 1):
        match = _PROPERTY.match(raw) if "=" in raw else None
        if not match:
            continue
        key = match["key"].lower()
        if key in found or key in ("number", "seqnumber"):
            if event := _of_properties(found):
                yield event
            found = {}
        found[key] = (match["value"], number, raw)


def _of_properties(found: dict[str, tuple[str, int, str]]) -> Event | None:
    text = "description" if "description" in found else "message"
    if not {"severity", text} <= found.keys():
        return None
    said, number, raw = found[text]
    day, clock, times, stamp = (found[key][0] if key in found else "" for key in ("date", "time", "count", "timestamp"))
    made = _sentence(said, found["severity"][0], stamp or f"{day} {clock}", number, raw)
    return _directed(made, made.severity)._replace(times=_times(times))


def _sentence(said: str, severity: str, stamp: str, number: int, raw: str) -> Event:
    moment = ipmi_time.of_text(stamp)
    return Event("", "", said.strip(), True, "", number, raw.strip(), moment=moment, severity=severity.strip().lower())
