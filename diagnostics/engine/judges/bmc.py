"""The BMC's event log and sensors. The log is history: what was taken back is a note, what stands is a state."""

import re
from dataclasses import replace
from typing import NamedTuple

from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import ipmi
from diagnostics.engine.parsers.ipmi import Event, Sensor
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role


class Rule(NamedTuple):
    kind: str
    event: str
    fault: str
    role: Role = "root"


_HIGH = r"Upper (?:Critical|Non-recoverable)"
_LOW = r"Lower (?:Critical|Non-recoverable)"

# Sensor type and event as IPMI 2.0 tables 42-2 and 42-3 name them; the first rule that fits wins.
_RULES = [
    Rule(
        r"fan|cooling",
        rf"{_LOW}|Transition to (?:Critical|Off|Non-recoverable)|Failure detected|Device (?:Absent|Removed)",
        "host.fan.failed",
    ),
    Rule(r"fan|cooling", r"Lower Non-critical|Redundancy Lost", "host.fan.failed", "note"),
    Rule(r"temperature", _HIGH, "host.temp.critical"),
    Rule(r"temperature", r"Upper Non-critical", "host.temp.critical", "note"),
    Rule(r"temperature", r"Lower ", "bmc.sensor_gap", "note"),
    Rule(r"voltage|current", rf"{_HIGH}|{_LOW}|State Asserted.*(?:fail|fault)|Limit Exceeded", "host.board.fault"),
    Rule(
        r"power supply",
        r"AC lost|Failure detected|Redundancy Lost|Predictive failure|out-of-range|Config Error|Critical",
        "host.psu.failed",
    ),
    Rule(r"power unit", r"AC lost|Power off/down|Failure detected|Soft-power control failure", "host.power.lost"),
    Rule(r"power unit", r"Redundancy Lost", "host.psu.failed"),
    Rule(r"memory", r"logging limit", "host.memory.correctable_storm"),
    Rule(r"memory", r"Uncorrectable|Critical Overtemp|Parity", "host.memory.uncorrectable"),
    Rule(r"memory", r"Correctable", "host.memory.correctable"),
    Rule(r"critical interrupt", r"Bus Fatal|Bus Uncorrectable|PCI [SP]ERR|Fatal NMI", "host.pcie.fatal"),
    Rule(r"critical interrupt", r"Bus Correctable|^$", "host.pcie.correctable", "note"),
    Rule(r"processor", r"IERR|Machine Check|FRB\d|Configuration Error", "host.cpu.mce"),
    Rule(r"processor", r"Thermal Trip", "host.temp.critical"),
    Rule(r"processor", r"Throttled", "host.cpu.thermal"),
    Rule(r"drive", r"Drive Fault|Predictive Failure|In Failed Array|In Critical Array", "host.disk.failing"),
    Rule(r"physical security|chassis", r"(?i)intrusion", "host.intrusion"),
    Rule(r"physical security", r"unplugged from LAN", "bmc.unreachable"),
    Rule(r"os critical stop|os stop", r"(?i)run-time critical stop|panic|bugcheck", "os.kernel_panic"),
    Rule(r"system firmware", r"(?i)corruption", "host.board.fault"),
    Rule(r"watchdog", r"Hard reset|Power (?:down|cycle)", "host.reboot_unexpected"),
    Rule(r"event logging", r"(?i)log (?:almost )?full", "bmc.sel_full"),
]
_COMPILED = [(re.compile(rule.kind, re.IGNORECASE), re.compile(rule.event, re.IGNORECASE), rule) for rule in _RULES]
_READING = re.compile(r"Reading (?P<reading>-?[\d.]+) (?P<sign>[<>]) Threshold (?P<limit>-?[\d.]+)")
_RECOVERED = re.compile(r"Fully Redundant|Presence detected|restored", re.IGNORECASE)
_PRESSED = re.compile(r"Button pressed|Graceful Shutdown", re.IGNORECASE)


def event_log(log: Log, *, source_name: str) -> list[Observation]:
    events = ipmi.events(log.text)
    standing = _standing(events)
    found = [
        seen
        for event in events
        if event.is_asserted and (seen := _judge(event, source_name, stands=id(event) in standing))
    ]
    return _power(found, events)


def _standing(events: list[Event]) -> set[int]:
    """The assertions that no later line takes back. Order of the list, not of the clock: a BMC's clock jumps."""
    open_events: dict[tuple[str, str, str], list[int]] = {}
    for event in events:
        key = (event.kind, event.name, event.event.lower())
        if not event.is_asserted:
            open_events.pop(key, None)
        elif _RECOVERED.search(event.event):
            for other in [k for k in open_events if k[:2] == key[:2]]:
                del open_events[other]
        else:
            open_events.setdefault(key, []).append(id(event))
    return {one for found in open_events.values() for one in found}


def _judge(event: Event, source_name: str, *, stands: bool) -> Observation | None:
    rule = _rule(event)
    if rule is None:
        return None
    fault, role = rule.fault, rule.role
    if _impossible(event.reading):
        fault, role = "bmc.sensor_gap", "root"
    return Observation(
        fault, EvidenceLine(event.number, event.raw), source_name, role=role if stands else "note", component=event.name,
        order=event.number, confidence="medium",
    )  # fmt: skip


def _rule(event: Event) -> Rule | None:
    where = f"{event.kind} {event.name}"
    for kind, what, rule in _COMPILED:
        if kind.search(where) and what.search(event.event):
            return rule
    return None


def _impossible(reading: str) -> bool:
    """A reading that lies on the other side of the limit than the event claims is a broken sensor."""
    match = _READING.search(reading)
    if not match:
        return False
    value, limit = float(match["reading"]), float(match["limit"])
    return value > limit if match["sign"] == "<" else value < limit


def _power(found: list[Observation], events: list[Event]) -> list[Observation]:
    """Power gone with the feed of the supplies is a loss; with a pressed button or an orderly end it is somebody's doing."""
    feeds_lost = {
        seen.component
        for seen in found
        if seen.fault == "host.psu.failed" and "AC lost" in seen.line.text and seen.role == "root"
    }
    pressed = any(_PRESSED.search(event.event) for event in events)

    def weigh(seen: Observation) -> Observation:
        if seen.fault == "host.power.lost" and "AC lost" not in seen.line.text and (pressed or not feeds_lost):
            return replace(seen, role="note")
        return seen

    return [weigh(seen) for seen in found]


_SENSOR_FAULTS = [
    (re.compile(r"fan|\bRPM\b", re.IGNORECASE), "host.fan.failed"),
    (re.compile(r"power supply|\bPSU?\d|AC lost", re.IGNORECASE), "host.psu.failed"),
    (re.compile(r"degrees|temp", re.IGNORECASE), "host.temp.critical"),
    (re.compile(r"volts|\bP?\d+V|vbat", re.IGNORECASE), "host.board.fault"),
]


def sensor_table(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for sensor in ipmi.sensors(log.text):
        fault = _sensor_fault(sensor)
        if fault:
            line = EvidenceLine(sensor.number, sensor.raw)
            role: Role = "note" if sensor.status.endswith("nc") else "root"
            found.append(Observation(fault, line, source_name, role=role, component=sensor.name, order=sensor.number))
    return found


def _sensor_fault(sensor: Sensor) -> str | None:
    text = f"{sensor.name} {sensor.reading}"
    if re.search(r"AC lost|Failure detected|Redundancy Lost", sensor.reading):
        return "host.psu.failed" if "power" in text.lower() or "ps" in sensor.name.lower() else None
    if sensor.status in ("ok", "ns", "na"):
        return None
    return next((fault for pattern, fault in _SENSOR_FAULTS if pattern.search(text)), None)


def sel_info(log: Log, *, source_name: str) -> list[Observation]:
    used = re.search(r"^Percent Used\s*: (\d+)%.*$", log.text, re.MULTILINE)
    over = re.search(r"^Overflow\s*: true.*$", log.text, re.MULTILINE | re.IGNORECASE)
    match = used if used and int(used.group(1)) >= 90 else over
    if not match:
        return []
    number = log.text.count("\n", 0, match.start()) + 1
    return [Observation("bmc.sel_full", EvidenceLine(number, match.group().strip()), source_name, order=number)]


FORMATS = {
    "ipmi-sel": Format(
        "BMC event log", (event_log,), of("host.memory", "host.cooling", "host.power", "host.board", "host.security")
    ),
    "ipmi-sensors": Format("BMC sensors", (sensor_table,), of("host.cooling", "host.power", "host.board")),
    "ipmi-sel-info": Format("BMC event log size", (sel_info,), of("bmc.log")),
}
