"""The BMC's event log as a state: what was taken back is a note, what stands is a fault."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache

from diagnostics.engine.catalog import bmc as catalog
from diagnostics.engine.catalog import thresholds
from diagnostics.engine.catalog.bmc import Meaning
from diagnostics.engine.judges import bmc_messages, bmc_sensors
from diagnostics.engine.judges.tally import Hit, Tally
from diagnostics.engine.parsers import ipmi_sel
from diagnostics.engine.parsers.ipmi_event import Event
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_READING = re.compile(r"Reading (?P<reading>-?[\d.]+) (?P<sign>[<>]) Threshold (?P<limit>-?[\d.]+)")
_RECOVERED = re.compile(
    r"(?<!Non-)Fully Redundant|Redundancy Regained|Presence detected|Transition to (?:OK|Running)|restored|State Deasserted"
    r"|Device (?:Present|Inserted)|Limit Not Exceeded|Performance Met|returned to normal",
    re.IGNORECASE,
)
_PRESSED = re.compile(r"Button pressed|Graceful Shutdown|soft-off", re.IGNORECASE)
_DIMM = re.compile(
    r"@?\b((?:P\d[-_ ]?)?(?:CPU ?\d+[-_ ])?DIMM[-_ ]?\w{1,8})|\((CPU ?\d+[-_][A-Z]\d{0,2})\)", re.IGNORECASE
)
_LABELLED = re.compile(r"memory|dimm|ecc", re.IGNORECASE)
_INVALID = re.compile(
    r"Invalid (?:Username|password|login)|unable to log ?in\b|log.?in (?:attempt )?(?:has )?(?:failure|failed)"
    r"|(?:failed|unsuccessful|unauthorized|invalid) (?:\w+ )?(?:log.?in|authentication)|authentication fail|bad password",
    re.IGNORECASE,
)
_LOGGED_IN = re.compile(r"\blogged in\b|log.?in (?:was )?success|successful(?:ly)? log", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b")
_MEASURED = re.compile(r"[-\d.]*")  # a check plug-in gives the value where others give the event
_WELL_WORDS = ("nominal", "ok", "normal")
_BY_SEVERITY = {"critical": Meaning("node.unclassified"), "warning": Meaning("node.unclassified", "note")}
_VAGUE = (
    "event logging",
    "session audit",
    "system event",
    "button",
    "entity presence",
    "system firmware",
    "os boot",
    "os stop",
)


@dataclass(slots=True)
class _Standing:
    """The assertions that no later line takes back, by sensor."""

    open: dict[tuple[str, str], dict[str, list[Event]]] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not event.kind and not event.name:
            self._see_message(event)
            return
        sensor = self.open.setdefault((event.kind.lower(), event.name.lower()), {})
        said = _threshold(event.event)
        if not event.is_asserted or event.severity == "nominal":
            sensor.pop(said, None)
            if not event.is_asserted and _is_bare(event):
                sensor.clear()
        elif _is_recovery(event.event) and not _rule_of(event):
            sensor.clear()
        else:
            sensor.setdefault(said, []).append(event)

    def _see_message(self, event: Event) -> None:
        """A sentence without a sensor: what it speaks of is known by its words."""
        rule = bmc_messages.rule(event.event)
        fault = rule.meaning.fault if rule and rule.meaning else ""
        subject = self.open.setdefault((fault, bmc_messages.part(event.event) or ""), {})
        if not event.is_asserted:
            subject.pop(event.event, None)
        elif bmc_messages.is_good(event.event):
            subject.clear()
        else:
            subject.setdefault(event.event, []).append(event)

    def ids(self) -> set[int]:
        return {id(event) for sensor in self.open.values() for found in sensor.values() for event in found}


def judge(log: Log, *, source_name: str) -> list[Observation]:
    events = ipmi_sel.events(log.text)
    standing = _Standing()
    for event in events:
        standing.see(event)
    stands = standing.ids()
    found = [
        seen
        for place, event in enumerate(events)
        if event.is_asserted and (seen := _judge(event, place, source_name, stands=id(event) in stands))
    ]
    return _counted(_logins(_power(found, events), events))


def _counted(found: list[Observation]) -> list[Observation]:
    """The first and the last signs of each kind, for a log of a BMC repeats itself for months."""
    tally = Tally()
    for seen in found:
        tally.add(Hit(seen))
    return tally.observations()


@lru_cache(maxsize=4096)
def _threshold(said: str) -> str:
    """The event without its measured values: they differ when it is taken back."""
    return re.split(r"\s*[;(]|\s*\| ", said.lower().replace(" - ", " "))[0].strip()


@lru_cache(maxsize=4096)
def _is_recovery(said: str) -> bool:
    return _RECOVERED.search(said) is not None


def _is_bare(event: Event) -> bool:
    return not event.event.strip()


def _rule_of(event: Event) -> Meaning | None:
    return _meaning(event.kind, event.name, event.event, event.severity)


@lru_cache(maxsize=4096)
def _meaning(kind: str, name: str, printed: str, severity: str) -> Meaning | None:
    if not kind and not name and bmc_messages.rule(printed):
        return bmc_messages.meaning(printed, severity=severity)
    own, said = kind or bmc_sensors.kind_of(name, printed), printed.replace(" - ", " ")
    if not kind and _MEASURED.fullmatch(said):
        return bmc_sensors.meaning_of_limit(own, name, severity)
    where = f"{own} {name}"
    for rule in catalog.event_rules():
        if rule.kind.search(where) and rule.event.search(said):
            return rule.meaning
    if name.startswith("#") or not name:
        return bmc_messages.meaning(printed, severity=severity)
    return None


def _judge(event: Event, place: int, source_name: str, *, stands: bool) -> Observation | None:
    if event.severity in _WELL_WORDS or event.severity.startswith("info"):
        return None
    meaning = _rule_of(event) or _unknown(event.kind, event.name, event.event, event.severity)
    if meaning is None:
        return None
    if _is_impossible(event):
        meaning = Meaning("bmc.sensor_gap")
    return Observation(
        meaning.fault,
        EvidenceLine(event.number, event.raw),
        source_name,
        role=meaning.role if stands else "note",
        component=_component(event),
        moment=event.moment,
        severity=meaning.severity,
        order=place,
        count=event.times,
        confidence="medium",
    )


@lru_cache(maxsize=4096)
def _unknown(kind: str, name: str, said: str, severity: str) -> Meaning | None:
    """What we do not know but the tool calls critical is shown; words of a boot and of sessions are not."""
    where = f"{kind} {name}".lower()
    if any(word in where for word in _VAGUE) or not said or (not where.strip() and bmc_messages.rule(said)):
        return None
    known = any(rule.kind.search(where) and rule.event.search(said) for rule in catalog.event_rules())
    return None if known else _BY_SEVERITY.get(severity)


def _component(event: Event) -> str | None:
    return _part(event.kind, event.name, event.event, event.reading)


@lru_cache(maxsize=4096)
def _part(kind: str, name: str, said: str, reading: str) -> str | None:
    if _LABELLED.search(f"{kind} {name}"):
        label = _DIMM.search(reading) or _DIMM.search(said)
        if label:
            return label.group(1) or label.group(2)
    return name or bmc_messages.part(said)


def _is_impossible(event: Event) -> bool:
    """A reading that lies on the other side of the limit than the event claims is a broken sensor."""
    match = _READING.search(event.reading)
    if not match or "Non-" in match["sign"]:
        return False
    value, limit = float(match["reading"]), float(match["limit"])
    return value > limit if match["sign"] == "<" else value < limit


def _power(found: list[Observation], events: list[Event]) -> list[Observation]:
    """Power gone with the feed of the supplies is a loss; with a pressed button or an orderly end it is somebody's doing."""
    feeds_lost = any(
        seen.fault == "host.psu.failed" and re.search(r"(?:AC|input) lost", seen.line.text) and seen.role == "root"
        for seen in found
    )
    pressed = any(_PRESSED.search(said) for said in {event.event for event in events})

    def weigh(seen: Observation) -> Observation:
        off = re.search(r"Power off/(?:power )?down", seen.line.text, re.IGNORECASE)
        if seen.fault == "host.power.lost" and off and (pressed or not feeds_lost):
            return replace(seen, role="note")
        return seen

    return [weigh(seen) for seen in found]


def _logins(found: list[Observation], events: list[Event]) -> list[Observation]:
    """A mistyped password is nobody's business; many are, and so is the log-in that follows a few from the same place."""
    failed = [event for event in events if _is_failed_login(event.event)]
    if sum(event.times for event in failed) < thresholds()["bmc"]["failed_logins"] and not _was_guessed(failed, events):
        return found
    return [replace(seen, role="root") if seen.fault == "bmc.audit_event" else seen for seen in found]


@lru_cache(maxsize=4096)
def _is_failed_login(said: str) -> bool:
    return _INVALID.search(said) is not None


def _was_guessed(failed: list[Event], events: list[Event]) -> bool:
    places: Counter[str] = Counter()
    for event in failed:
        places.update(dict.fromkeys(_ADDRESS.findall(event.event), event.times))
    first = {place: event.number for event in reversed(failed) for place in _ADDRESS.findall(event.event)}
    return any(
        places[place] >= thresholds()["bmc"]["failed_logins_before_one"] and event.number > first[place]
        for event in events if places and _LOGGED_IN.search(event.event)
        for place in _ADDRESS.findall(event.event)
    )  # fmt: skip
