"""Tables of sensors.

Fan 3            | 41h | cr  | 29.3 | 0 RPM                                                       ipmitool sdr elist
CPU1 Temp        | 41.000     | degrees C  | ok    | 0.000 | 0.000 | 5.000 | 85.0 | 90.0 | na     ipmitool sensor
Fan 3,0,RPM,cr                                                                                   ipmitool -c sdr
25  | PSU1 Status | Power Supply | Critical | N/A | N/A | 'Presence detected' 'Failure detected'   FreeIPMI ipmi-sensors
25: PSU1 Status (Power Supply): [Presence detected][Failure detected]                            old ipmi-sensors
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers import ipmi_sel
from diagnostics.engine.parsers.recognise import TextKinds

_STATUSES = frozenset(["ok", "ns", "na", "nc", "cr", "nr", "lnc", "lcr", "lnr", "unc", "ucr", "unr"])
_STATES = frozenset(["nominal", "warning", "critical", "n/a"])
_MASK = re.compile(r"0x[0-9a-fA-F]{4}")
_UNITS = ("degrees", "volts", "rpm", "amps", "watts", "percent", "discrete", "unspecified")
_SHORT_UNITS = {
    "c": "degrees C",
    "f": "degrees F",
    "v": "Volts",
    "rpm": "RPM",
    "a": "Amps",
    "w": "Watts",
    "%": "percent",
}
_WORDS = re.compile(
    r"degrees [CF]\b|\bVolts\b|\bRPM\b|\bWatts\b|\bdiscrete\b|No Reading|\| [0-9A-F]{2}h \|| '[^'|]+'\s*$"
)
_ENTITY = re.compile(r"\d{1,3}\.\d{1,3}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OLD = re.compile(
    r"\s*(?P<id>\d+): (?P<name>[^():]{1,40}) \((?P<kind>[^()]{1,40})\): (?P<reading>[^\[]{0,80})(?P<events>(?:\[[^\]]*\])+)\s*$"
)


@dataclass(frozen=True, slots=True)
class Sensor:
    """A row. `status` is ipmitool's (ok, ns: cannot be read, nc, cr, nr and their lower and upper forms) or FreeIPMI's state.

    `kind` is "" where the table does not tell the type; `states` are the sixteen bits of a discrete sensor, the first eight lowest.
    `entity` is the part that it watches, its type and number (10.2: the second power supply).
    """

    name: str
    reading: str
    status: str
    number: int
    raw: str
    kind: str = ""
    events: str = ""
    states: int | None = None
    entity: str = ""

    @property
    def value(self) -> float | None:
        match = _NUMBER.match(self.reading)
        return float(match.group()) if match else None


def sensors(text: str) -> list[Sensor]:
    rows = ((number, raw) for number, raw in enumerate(text.splitlines(), 1) if "|" in raw or "," in raw or "[" in raw)
    return [sensor for number, raw in rows if (sensor := _sensor(raw, number))]


def _sensor(raw: str, number: int) -> Sensor | None:
    mark = "|" if "|" in raw else ","
    cells = [cell.strip() for cell in raw.split(mark, 16)]
    if len(cells) >= 3 and cells[0]:
        if cells[0].isdigit() and len(cells) >= 5:
            return _freeipmi(cells, number, raw.strip())
        found = _ipmitool(cells, number, raw.strip())
        if found and (mark == "|" or found.kind != "?"):
            return found
    return _old(raw, number)


def _ipmitool(cells: list[str], number: int, raw: str) -> Sensor | None:
    if len(cells) >= 4 and cells[2].lower() == "discrete" and _MASK.fullmatch(cells[3]):
        bits = int(cells[3][2:4], 16) | (int(cells[3][4:], 16) & 0x7F) << 8
        return Sensor(cells[0], cells[1], "discrete", number, raw, states=bits)
    for at, cell in enumerate(cells[1:5], 1):
        if cell.lower() in _STATUSES:
            rest = [other for place, other in enumerate(cells[1:], 1) if place != at]
            if at == 3 and _is_unit(cells[2]):  # with the thresholds behind
                return Sensor(cells[0], f"{cells[1]} {cells[2]}", cell.lower(), number, raw)
            if "," in raw and "|" not in raw and at not in (2, 3):
                return None
            entity = next((other for other in rest if _ENTITY.fullmatch(other)), "") if len(rest) > 2 else ""
            return Sensor(cells[0], _reading(rest), cell.lower(), number, raw, entity=entity)
    return None


def _is_unit(cell: str) -> bool:
    return cell.lower().startswith(_UNITS)


def _reading(cells: list[str]) -> str:
    """The cell with the measured value or the states; numbers of the sensor and its entity are left out."""
    wanted = [cell for cell in cells if cell and not re.fullmatch(r"[0-9A-Fa-f]{1,2}h|\d{1,3}\.\d{1,3}", cell)]
    if not wanted:
        return cells[-1] if cells else ""
    return " ".join(wanted)


def _freeipmi(cells: list[str], number: int, raw: str) -> Sensor | None:
    """ID, Name, Type, [State,] Reading, Units, [thresholds,] Event: the event stands in quotes or last."""
    if not ipmi_sel.is_type(cells[2]):
        return None
    state = cells[3].lower() if cells[3].lower() in _STATES and len(cells) >= 6 else ""
    rest = cells[4:] if state else cells[3:]
    if not state and not rest[-1].startswith("'") and rest[-1] not in ("N/A", "OK"):
        return None
    reading = rest[0] if rest else ""
    unit = _SHORT_UNITS.get(rest[1].lower(), rest[1]) if len(rest) > 1 else ""
    at = next((place for place, cell in enumerate(rest) if cell.startswith("'")), len(rest) - 1)
    said = " ".join(rest[at:]).replace("'", "")
    return Sensor(cells[1], f"{reading} {unit}".strip(), state or "event", number, raw, kind=cells[2], events=said)


def _old(raw: str, number: int) -> Sensor | None:
    match = _OLD.match(raw)
    if not match:
        return None
    said = match["events"].replace("][", " ").strip("[]")
    return Sensor(
        match["name"].strip(), match["reading"].strip(" :"), "event", number, raw.strip(), match["kind"], said
    )


def looks_like(head: str) -> bool:
    rows = [row for row in head.splitlines()[:200] if row.strip()]
    return len(sensors("\n".join(rows))) * 2 > len(rows) > 0 or _has_table(rows)


def _has_table(rows: list[str]) -> bool:
    """Two rows of a table with pipes and words of IPMI, whatever stands around it."""
    return len(sensors("\n".join(row for row in rows if row.count("|") >= 2 and _WORDS.search(row)))) >= 2


TEXT_KINDS: TextKinds = (("ipmi-sensors", looks_like),)
