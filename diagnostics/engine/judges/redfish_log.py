"""Entries of Redfish logs and events: history, of which what was taken back or resolved is a note."""

import re
from dataclasses import dataclass, replace
from typing import Any

from diagnostics.engine.catalog.bmc import Meaning
from diagnostics.engine.judges import bmc_messages
from diagnostics.engine.judges.bmc_access import DEFAULT_NAMES
from diagnostics.engine.parsers import ipmi_time
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.redfish import resources, text_of
from diagnostics.engine.types import EvidenceLine, Moment, Observation

_MARKS = ("Severity", "MessageSeverity", "EntryType", "EventType", "EventTimestamp", "Created", "SensorType")
_LOGIN = re.compile(r"(?i)\blogged in using (?P<user>[\w.-]+)")
_BY_PROGRAM = re.compile(r"\b(?:REDFISH|WS-?MAN|IPMI|RACADM|API)\b", re.IGNORECASE)
_CONDITIONS = "Conditions"  # the reasons of a state, which is judged with its resource
_PART_ARGS = re.compile(r"fan|psu|dimm|gpu|cpu|drive|disk|slot|temp|volt|leak|nvswitch|supply", re.IGNORECASE)
_TELLING = re.compile(
    r"/(?:PowerSupplies|Fans|Memory|Processors|Drives|Sensors|LeakDetectors|PCIeDevices|NVSwitches|Switches)/(?P<part>[^/\"]+)$"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """`sensor` is what pairs two entries: the sensor's number and type. `place` is that in the document."""

    value: dict[str, Any]
    text: str
    message_id: str
    severity: str
    part: str | None
    sensor: tuple[str, str] | None
    fault: str
    moment: Moment
    place: int

    @property
    def is_good(self) -> bool:
        said = f"{self.text} {self.value.get('EntryCode') or ''}"
        return self.severity.lower() in ("ok", "informational") or bmc_messages.is_good(said)


def judge(documents: list[JsonText], *, source_name: str) -> list[Observation]:
    found: list[tuple[JsonText, Entry]] = []
    for document in documents:
        for kind, value in resources(document.value):
            if kind != _CONDITIONS and _is_entry(value):
                found.append((document, _entry(value, len(found))))
    found.sort(key=lambda pair: _order(pair[1]))
    seen = []
    for at, (document, entry) in enumerate(found):
        meaning = _meaning(entry)
        if meaning:
            over = _is_resolved(entry) or any(_takes_back(later, entry) for _, later in found[at + 1 :])
            seen.append(_say(document, entry, meaning, source_name, is_over=over))
    return seen or _shared_logins(found, source_name)


def _shared_logins(found: list[tuple[JsonText, Entry]], source_name: str) -> list[Observation]:
    """Log-ins of persons under an account that several share are asked after where somebody shows nothing but them."""
    users = [match["user"] if (match := _LOGIN.search(entry.text)) else "" for _, entry in found]
    if (
        not users
        or all(_BY_PROGRAM.search(entry.text) for _, entry in found)
        or any(user.lower() not in DEFAULT_NAMES for user in users)
    ):
        return []
    document, entry = found[0]
    seen = _say(document, entry, Meaning("bmc.audit_event"), source_name, is_over=False)
    return [replace(seen, component=users[0], confidence="low")]


def _is_entry(value: dict[str, Any]) -> bool:
    if not any(key in value for key in ("Message", "MessageId", "EntryCode")):
        return False
    return any(key in value for key in _MARKS) and "Conditions" not in value and "MessageText" not in value


def _entry(value: dict[str, Any], place: int) -> Entry:
    text = text_of(value.get("Message")) or text_of(value.get("Description"))
    said = " ".join(part for part in (text, text_of(value.get("EntryCode")), text_of(value.get("SensorType"))) if part)
    message_id = text_of(value.get("MessageId") or value.get("MessageID"))
    rule = bmc_messages.rule(said, message_id=message_id)
    number = value.get("SensorNumber")
    sensor = (text_of(value.get("SensorType")), str(number)) if number is not None else None
    severity = text_of(value.get("Severity") or value.get("MessageSeverity")).rsplit(".Level.", 1)[-1]
    stamp = value.get("Created") or value.get("EventTimestamp") or value.get("Updated") or value.get("Timestamp")
    fault = rule.meaning.fault if rule and rule.meaning else ""
    return Entry(value, said, message_id, severity, _part(value, text), sensor, fault, ipmi_time.iso(stamp), place)


def _order(entry: Entry) -> tuple[str, int, int]:
    """By their own time; entries of one second by their number."""
    number = text_of(entry.value.get("Id"))
    at = entry.moment.at.isoformat() if entry.moment.at else text_of(entry.value.get("Created"))
    return at, int(number) if number.isdecimal() else 0, entry.place


def _meaning(entry: Entry) -> Meaning | None:
    if entry.is_good:
        return None
    rule = bmc_messages.rule(entry.text, message_id=entry.message_id)
    if not entry.severity:  # left out: then only what is known by its words
        return (
            rule.meaning
            if rule and re.search(r"fail|lost|critical|fault|exceed|uncorrect|error|leak", entry.text, re.I)
            else None
        )
    if not bmc_messages.is_bad(entry.severity):
        return None
    if rule:
        return rule.meaning
    return (
        Meaning("node.unclassified", "root" if entry.severity.lower() == "critical" else "note") if entry.text else None
    )


def _is_resolved(entry: Entry) -> bool:
    if entry.value.get("Resolved") in (True, 1):
        return True
    return isinstance(oem := entry.value.get("Oem"), dict) and any(
        isinstance(one, dict) and text_of(one.get("Repaired") or one.get("Resolved")).lower() == "true"
        for one in oem.values()
    )


def _takes_back(later: Entry, entry: Entry) -> bool:
    if not later.is_good:
        return False
    if entry.sensor and later.sensor:
        return entry.sensor == later.sensor
    if not entry.fault or entry.fault != later.fault or not bmc_messages.is_good(later.text):
        return False
    return later.part is None or entry.part is None or later.part.lower() == entry.part.lower()


def _say(document: JsonText, entry: Entry, meaning: Meaning, source_name: str, *, is_over: bool) -> Observation:
    code = text_of(entry.value.get("EntryCode"))
    key = (
        "EntryCode"
        if code and code not in ("Assert", "Deassert")
        else "Message"
        if entry.value.get("Message")
        else "MessageId"
    )
    said = text_of(entry.value.get(key))[:30].replace("\\", "").split('"')[0]
    number = text_of(entry.value.get("@odata.id") or entry.value.get("Id"))
    line: EvidenceLine = document.locate(key, value=f'"{said}', after=f'"{number}"' if number else "")
    return Observation(
        meaning.fault, line, source_name, role="note" if is_over else meaning.role, component=entry.part, moment=entry.moment,
        severity=meaning.severity, detail=text_of(entry.value.get("Message")), order=entry.place,
    )  # fmt: skip


def _part(value: dict[str, Any], message: str) -> str | None:
    if named := bmc_messages.part(message):
        return named
    args = value.get("MessageArgs")
    for arg in args if isinstance(args, list) else ():
        if isinstance(arg, str) and _PART_ARGS.search(arg) and len(arg) <= 60 and "/" not in arg:
            return arg
    if match := _TELLING.search(_origin(value)):
        return match["part"]
    number = value.get("SensorNumber")
    return f"sensor {number}" if number is not None else None


def _origin(value: dict[str, Any]) -> str:
    links = value.get("Links")
    for holder in (value, links if isinstance(links, dict) else {}):
        origin = holder.get("OriginOfCondition")
        if isinstance(origin, dict):
            return text_of(origin.get("@odata.id"))
        if isinstance(origin, str):
            return origin
    return ""
