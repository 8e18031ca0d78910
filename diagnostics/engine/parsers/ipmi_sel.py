"""The system event log, one event a row or a block.

  2cd | 07/13/2026 | 12:00:27 | Memory DIMM A1 | Uncorrectable ECC | Asserted            ipmitool sel list, sel elist
  2cd,07/13/2026,12:00:27,Memory DIMM A1,Uncorrectable ECC,Asserted                      ipmitool -c
 Sensor Type           : Memory                                                          ipmitool -v, one field a line
12  | Jul-13-2026 | 12:00:27 | PS1 Status | Power Supply | Critical | Failure detected   FreeIPMI ipmi-sel
PSU PS2 Status = Critical, Power Supply, Power Supply Failure detected                   check plug-ins
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from diagnostics.engine.parsers import ipmi_records, ipmi_time
from diagnostics.engine.parsers.ipmi_event import Event
from diagnostics.engine.parsers.recognise import TextKinds
from diagnostics.engine.types import Moment

_TYPES = (
    "Temperature", "Voltage", "Current", "Fan", "Physical Security", "Platform Security", "Processor", "Power Supply", "Power Unit",
    "Cooling Device", "Memory", "Drive Slot / Bay", "Drive Slot", "System Firmware Progress", "System Firmwares", "System Firmware",
    "Event Logging Disabled", "Watchdog 1", "Watchdog 2", "Watchdog1", "Watchdog2", "Watchdog", "System Event", "Critical Interrupt",
    "Button", "Module / Board", "Module/Board", "Slot / Connector", "System Chassis", "OS Critical Stop", "OS Stop/Shutdown", "OS Boot",
    "Version Change", "Session Audit", "Battery", "Management Subsystem Health", "Management Subsys Health", "Add-in Card", "Chip Set",
    "Cable / Interconnect", "Microcontroller/Coprocessor", "Microcontroller", "Boot Error", "System Boot Initiated", "Terminator",
    "System ACPI Power State", "Entity Presence", "Monitor ASIC", "LAN", "FRU State", "Chassis", "Other FRU", "Other Units",
    "POST Memory Resize",
)  # fmt: skip
_KIND = re.compile("|".join(re.escape(kind) for kind in sorted(_TYPES, key=len, reverse=True)), re.IGNORECASE)
_KIND_AS_WRITTEN = {kind.lower(): kind for kind in _TYPES}
_TYPE_NAMES = frozenset(kind.lower() for kind in _TYPES)
_ID = re.compile(r"(?:[\w.-]{1,60}: +)?([0-9a-fA-F]{1,6})")  # behind the name of a host, if one tool asked many
_DATE = re.compile(
    r"\d{1,2}/\d{1,2}/\d{2,4}|[A-Z][a-z]{2}-\d{1,2}-\d{4}|\d{1,2}-[A-Z][a-z]{2}-\d{4}|\d{4}[-/]\d{2}[-/]\d{2}"
)
_UNDATED = ("pre-init", "postinit", "pre-init time-stamp", "pre-init timestamp", "unspecified")
_CLOCK = re.compile(
    r"(?:\d{1,2}:\d{2}(?::\d{2})?(?: [AP]M)?(?: (?:[A-Z]{2,5}|[+-]\d\d(?::?\d\d)?))?|\d{10}|[Nn]/[Aa]|[Uu]nknown)$"
)
_UP, _DOWN = ("asserted", "assertion event", "assertion"), ("deasserted", "deassertion event", "deassertion")
_STATES = ("nominal", "warning", "critical", "n/a")
# The form of nearly all rows: what is behind the stamp repeats, and is taken apart once.
_PLAIN = re.compile(
    r"\s*(?:[\w.-]{1,60}: +)?(?P<record>[0-9a-fA-F]{1,6}) *\| *(?P<day>\d{1,2}/\d{1,2}/\d{2,4}) *\|"
    r" *(?P<clock>\d{1,2}:\d\d:\d\d(?: [AP]M)?(?: [A-Z]{2,5})?) *\|(?P<rest>.*)$"
)
_BROKEN = re.compile(r"^\s*[0-9a-fA-F]{1,6} \|.*\|\s*$")
_DIRECTION = re.compile(r" - (?P<down>De-?)?Assert(?:ion|ed)$", re.IGNORECASE)  # in the cell of the event
_COMMAS = re.compile(r"\s*\d+,(?:[A-Z][a-z]{2}-\d\d-\d{4},|\d{4}[/-]\d\d[/-]\d\d \d\d:\d\d:\d\d,)")
_NEXT_ROW = re.compile(r"\s*[0-9a-fA-F]{1,6} +\|")
_PLUGIN = re.compile(
    r"\s*(?![Ss]everity\b)(?P<name>[^=|]{1,60}?) = (?P<state>Critical|Warning|Nominal|OK)(?:, (?P<kind>[^,]{1,40}), (?P<event>.+))?$"
)
_PLUGIN_HEAD = re.compile(r"^IPMI Status: (?:OK|Critical|Warning)")
_PLUGIN_ITEM = re.compile(
    r"(?:\[|, |\()(?P<name>[^\[\](),=|]{1,60}?) = (?P<state>Critical|Warning)"
    r"(?:, (?P<kind>[^,()]{1,40}), (?P<said>[^()]{1,80})\)| \((?P<event>[^)]*)\))?"
)
_FIELD = re.compile(r"\s*(?P<key>[A-Z][A-Za-z /]{1,30}?)\s*:\s(?P<value>.*)$")
_MOST_CELLS = 12


class _Said(NamedTuple):
    """An event without its time and its place."""

    kind: str
    name: str
    event: str
    is_asserted: bool
    reading: str
    severity: str


def events(text: str) -> list[Event]:
    """All events in the order in which they happened: by record, for a clock of a BMC jumps."""
    lines = _unwrapped(text.splitlines())
    tables = list(ipmi_records.tabled(lines))
    taken = frozenset(event.number for event in tables)
    rows = _rows(lines, taken)
    found = sorted([*tables, *rows, *_blocks(lines), *ipmi_records.events(lines)], key=lambda event: event.number)
    return list(reversed(found)) if _is_newest_first(found) else found


def _unwrapped(lines: list[str]) -> list[str]:
    """A row that was broken behind a bar, as one line; what was its rest is left empty, so that lines keep their numbers."""
    found = list(lines)
    for at in range(len(found) - 2, -1, -1):
        here, below = found[at], found[at + 1]
        if (
            below[:1] in (" ", "\t")
            and here.rstrip()[-1:] == "|"
            and _BROKEN.search(here)
            and not _NEXT_ROW.match(below)
        ):
            found[at], found[at + 1] = f"{here.rstrip()} {below.strip()}", ""
    return found


def _rows(lines: list[str], taken: frozenset[int]) -> Iterator[Event]:
    for number, raw in enumerate(lines, 1):
        if number in taken:
            continue
        if event := _row(raw, number):
            yield event
        elif " = " in raw:
            yield from _plugin(raw, number)


def _is_newest_first(found: list[Event]) -> bool:
    records: list[Any] = [event.record for event in found if event.record >= 0]
    marks = records or [event.moment.at for event in found if event.moment.at]
    falls = sum(later < earlier for earlier, later in pairwise(marks))
    return falls * 2 > sum(later != earlier for earlier, later in pairwise(marks)) > 0


def _row(raw: str, number: int) -> Event | None:
    if match := _PLAIN.match(raw):
        record, day, clock, rest = match.groups()
        said = _event_of(rest)
        return _made(said, number, raw, int(record, 16), ipmi_time.moment(day, clock)) if said else None
    return _row_of_any_form(raw, number)


def _row_of_any_form(raw: str, number: int) -> Event | None:
    mark = "|" if raw.count("|") >= 3 else ","
    if raw.count(mark) < 3:
        return None
    cells = [cell.strip() for cell in raw.split(mark, _MOST_CELLS)]
    record = _ID.fullmatch(cells[0])
    if not record:
        return None
    dated = _dated(cells[1:])
    if dated is None:
        return None
    moment, rest = dated
    said = _event(tuple(rest))
    return _made(said, number, raw, int(record.group(1), 16), moment) if said else None


def _made(said: _Said, number: int, raw: str, record: int, moment: Moment) -> Event:
    kind, name, event, is_asserted, reading, severity = said
    return Event(kind, name, event, is_asserted, reading, number, raw.strip(), record, moment, severity)


def _dated(cells: list[str]) -> tuple[Moment, list[str]] | None:
    """The stamp and what follows it; None if this is no row of an event log."""
    if cells[0].lower() in _UNDATED:
        is_clock = len(cells) > 1 and (cells[1].lower() in _UNDATED or _CLOCK.match(cells[1]))
        return Moment(), cells[2:] if is_clock else cells[1:]
    date = _DATE.match(cells[0])
    if not date:
        return None
    if date.end() < len(cells[0]):
        return ipmi_time.moment(date.group(), cells[0][date.end() :]), cells[1:]
    if len(cells) > 2 and _CLOCK.match(cells[1]):
        return ipmi_time.moment(cells[0], cells[1]), cells[2:]
    return None


@lru_cache(maxsize=4096)
def _event_of(rest: str) -> _Said | None:
    return _event(tuple(cell.strip() for cell in rest.split("|", _MOST_CELLS - 3)))


@lru_cache(maxsize=4096)
def _event(cells: tuple[str, ...]) -> _Said | None:
    """The cells behind the stamp: with a direction somewhere, with a state, or FreeIPMI's name, type and event."""
    lower = [cell.lower() for cell in cells]
    direction = next((at for at, cell in enumerate(lower) if cell in _UP or cell in _DOWN), None)
    asserted = direction is None or lower[direction] in _UP
    state = next((at for at, cell in enumerate(lower) if at >= 2 and cell in _STATES), None)
    severity = lower[state] if state is not None else ""
    if direction is None and (ends := _DIRECTION.search(cells[-1])):
        asserted = not ends["down"]
        cells = (*cells[:-1], cells[-1][: ends.start()])
    drop = {at for at in (direction, state) if at is not None}
    bare = [cell for at, cell in enumerate(cells) if at not in drop]
    if len(bare) >= 3 and (lower[1] in _TYPE_NAMES or state is not None) and direction != 2:
        return _presence(_Said(cells[1], cells[0], "; ".join(bare[2:]), asserted, "", severity))
    if not bare:
        return None
    kind, name = split(bare[0])
    event = bare[1] if len(bare) > 1 else ""
    return _presence(_Said(kind, name, event, asserted, " | ".join(bare[2:]), severity))


def _presence(said: _Said) -> _Said:
    """A supply that is taken back as present is one that is gone."""
    if said.is_asserted or said.kind != "Power Supply" or not said.event.lower().startswith("presence detected"):
        return said
    return said._replace(event="Presence lost", is_asserted=True)


def _plugin(raw: str, number: int) -> Iterator[Event]:
    if _PLUGIN_HEAD.match(raw):
        for item in _PLUGIN_ITEM.finditer(raw):
            yield Event(
                item["kind"] or "", item["name"].strip(), item["said"] or item["event"] or "", True, "", number, raw.strip(),
                severity=item["state"].lower(),
            )  # fmt: skip
    elif match := _PLUGIN.match(raw):
        bad = match["state"] in ("Critical", "Warning")
        yield Event(
            match["kind"] or "", match["name"], match["event"] or "", bad, "", number, raw.strip(),
            severity=match["state"].lower(),
        )  # fmt: skip


def _blocks(lines: list[str]) -> Iterator[Event]:
    """ipmitool -v and racadm getsel: a block begins with the number of its record."""
    fields: dict[str, tuple[str, int, str]] = {}
    for number, raw in enumerate([*lines, "Record: 0"], 1):
        match = _FIELD.match(raw)
        if not match:
            continue
        key = match["key"].lower()
        if key in ("sel record id", "record"):
            if event := _of_block(fields):
                yield event
            fields = {}
        fields.setdefault(key, (match["value"].strip(), number, raw.strip()))


def _of_block(fields: dict[str, tuple[str, int, str]]) -> Event | None:
    words = {key: value for key, (value, _, _) in fields.items()}
    if "description" not in words or not ({"sel record id", "record"} & words.keys()):
        return None
    _, number, raw = fields["description"]
    kind = words.get("sensor type", "")
    name = words.get("sensor id", "") or words.get("sensor number", "")
    record = words.get("sel record id") or words.get("record") or ""
    return Event(
        kind,
        re.sub(r"\s*\(0x[0-9a-f]+\)$", "", name) if "sensor id" in words else f"#0x{name}" if name else "",
        words["description"],
        not words.get("event direction", "").lower().startswith("deassert"),
        words.get("trigger reading", ""),
        number,
        raw,
        int(record, 16) if _ID.fullmatch(record) else -1,
        ipmi_time.of_text(words.get("timestamp") or words.get("date/time") or ""),
        words.get("severity", "").lower(),
    )


def is_type(word: str) -> bool:
    return word.lower() in _TYPE_NAMES or word.lower().startswith("oem")


def split(sensor: str) -> tuple[str, str]:
    if match := _KIND.match(sensor):
        kind = _KIND_AS_WRITTEN[match.group().lower()]
        return kind, sensor[match.end() :].strip() or kind
    return sensor.split(" ")[0], sensor


_EMPTY = re.compile(r"(?m:^SEL has no entries\s*$)")  # a clean look, as ipmitool tells it


def looks_like(head: str) -> bool:
    """One row or block is enough: nothing else is written like it."""
    rows = [row for row in head.splitlines() if row.strip()]
    if any(_is_row(row) or ipmi_records.is_head(row) for row in rows) or "SEL Record ID" in head:
        return True
    if _EMPTY.search(head):
        return True
    if ipmi_records.is_record(rows):
        return True
    if any(_PLUGIN_HEAD.match(row) for row in rows[:200]):
        return True
    plugin = sum(bool(_PLUGIN.match(row)) for row in rows[:200])
    return plugin * 2 > len(rows[:200]) or bool(re.search(r"(?m:^Record:\s+\d+\s*\nDate/Time:)", head))


def _is_row(row: str) -> bool:
    if "|" not in row and "sserted" not in row and not _COMMAS.match(row):
        return False
    event = _row(row, 1)
    return event is not None and bool(event.kind)


TEXT_KINDS: TextKinds = (("ipmi-sel", looks_like),)
