"""What BMC tools print: the system event log and sensor tables of ipmitool and FreeIPMI.

  2cd | 07/13/2026 | 12:00:27 | Memory DIMM A1 | Uncorrectable ECC | Asserted            sel list, sel elist
Fan 3            | 41h | cr  | 29.3 | 0 RPM                                              sdr elist
PSU PS2 Status = Critical, Power Supply, Power Supply Failure detected                   check plug-ins
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches

_SEL = re.compile(
    r"\s*(?P<id>[0-9a-f]{1,5}) \| (?P<date>[^|]*) \| (?:(?P<time>[^|]*) \| )?(?P<sensor>[^|]+) \| (?P<event>[^|]*)"
    r"(?: ?\| (?P<direction>Asserted|Deasserted))?(?:\s*\| (?P<reading>.*))?$",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\s*(?P<name>[^=|]+?) = (?P<state>Critical|Warning|Nominal|OK)(?:, (?P<kind>[^,]+), (?P<event>.+))?$"
)
_TYPES = (
    "Temperature", "Voltage", "Current", "Fan", "Physical Security", "Platform Security", "Processor", "Power Supply", "Power Unit",
    "Cooling Device", "Memory", "Drive Slot / Bay", "Drive Slot", "System Firmware Progress", "System Firmwares", "System Firmware",
    "Event Logging Disabled", "Watchdog1", "Watchdog2", "Watchdog", "System Event", "Critical Interrupt", "Button", "Module / Board",
    "Slot / Connector", "System Chassis", "OS Critical Stop", "OS Boot", "Version Change", "Session Audit",
)  # fmt: skip
_STATUSES = frozenset(["ok", "ns", "na", "nc", "cr", "nr", "lnc", "lcr", "lnr", "unc", "ucr", "unr"])


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is the sensor's type ("Power Supply"), `name` what is left of its text ("PS1 Status", "#0x41")."""

    kind: str
    name: str
    event: str
    is_asserted: bool
    reading: str
    number: int
    raw: str


@dataclass(frozen=True, slots=True)
class Sensor:
    """A row of a sensor table; `status` is ipmitool's: ok, ns (cannot be read), nc, cr, nr and their lower/upper forms."""

    name: str
    reading: str
    status: str
    number: int
    raw: str


def events(text: str) -> list[Event]:
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _SEL.match(raw):
            kind, name = _split(match["sensor"].strip())
            asserted = (match["direction"] or "Asserted").lower() == "asserted"
            found.append(
                Event(kind, name, match["event"].strip(), asserted, match["reading"] or "", number, raw.strip())
            )
        elif match := _STATE.match(raw):
            bad = match["state"] in ("Critical", "Warning")
            found.append(Event(match["kind"] or "", match["name"], match["event"] or "", bad, "", number, raw.strip()))
    return found


def sensors(text: str) -> list[Sensor]:
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in raw.split("|")]
        status = next((cell.lower() for cell in cells[1:5] if cell.lower() in _STATUSES), None)
        if len(cells) >= 3 and status and cells[0]:
            reading = " ".join(cell for cell in cells[1:] if cell.lower() != status)
            found.append(Sensor(cells[0], reading, status, number, raw.strip()))
    return found


def looks_like_sel(head: str) -> bool:
    rows = [row for row in head.splitlines()[:200] if row.strip()]
    hits = sum(
        bool(_STATE.match(row) or (row.count("|") >= 4 and _SEL.match(row) and "sserted" in row)) for row in rows
    )
    return hits * 2 > len(rows)


def looks_like_sensors(head: str) -> bool:
    rows = [row for row in head.splitlines()[:200] if row.strip()]
    return len(sensors("\n".join(rows))) * 2 > len(rows) > 0


def _split(sensor: str) -> tuple[str, str]:
    for kind in _TYPES:
        if sensor.lower().startswith(kind.lower()):
            return kind, sensor[len(kind) :].strip() or kind
    return sensor.split(" ")[0], sensor


TEXT_KINDS: TextKinds = (
    ("ipmi-sel", looks_like_sel),
    ("ipmi-sensors", looks_like_sensors),
    ("ipmi-sel-info", matches(r"(?m:^SEL Information|^Percent Used +: \d+%)")),
)
