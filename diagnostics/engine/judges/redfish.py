"""Redfish documents: the health of sensors and supplies, and entries of logs.

A document may be one resource, a collection with Members, or an event with Events. Field names follow DMTF DSP2046; what old
controllers leave out (Severity, MessageSeverity) is looked for under both names.
"""

import re
from collections.abc import Iterator
from typing import Any

from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers.json_text import DEEPEST, JsonText
from diagnostics.engine.types import EvidenceLine, Observation, Role

_SUBJECTS = [
    (re.compile(r"power ?suppl|\bPSU?\b|redundan", re.IGNORECASE), "host.psu.failed"),
    (re.compile(r"\bfans?\b|cooling", re.IGNORECASE), "host.fan.failed"),
    (re.compile(r"leak", re.IGNORECASE), "facility.leak"),
    (re.compile(r"temperature|thermal|\binlet\b", re.IGNORECASE), "host.temp.critical"),
    (re.compile(r"voltage|\bVRM?\b", re.IGNORECASE), "host.board.fault"),
    (
        re.compile(r"uncorrectable.*(?:memory|ECC)|(?:memory|DIMM).*uncorrectable|multi-bit", re.IGNORECASE),
        "host.memory.uncorrectable",
    ),
    (re.compile(r"correctable.*(?:memory|ECC)|(?:memory|DIMM).*correctable", re.IGNORECASE), "host.memory.correctable"),
    (re.compile(r"\bdrive|disk|\bPD\b", re.IGNORECASE), "host.disk.failing"),
    (re.compile(r"intrusion|chassis (?:is )?open", re.IGNORECASE), "host.intrusion"),
    (re.compile(r"processor|\bCPU\b|machine check|IERR", re.IGNORECASE), "host.cpu.mce"),
    (re.compile(r"PCIe? .*(?:fatal|uncorrectable)|bus fatal", re.IGNORECASE), "host.pcie.fatal"),
]
_LISTS = {
    "PowerSupplies": "host.psu.failed",
    "Fans": "host.fan.failed",
    "Temperatures": "host.temp.critical",
    "Voltages": "host.board.fault",
}
_BAD = ("Critical", "Warning")
_GOOD_AGAIN = re.compile(r"restored|returned to|within range|are redundant|is normal|deassert", re.IGNORECASE)


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    value = document.value
    entries = [one for key in ("Members", "Events") for one in value.get(key) or [] if isinstance(one, dict)]
    if "Message" in value:
        entries.append(value)
    return list(_states(document, value, source_name, 0)) + _log(document, entries, source_name)


def _states(document: JsonText, value: Any, source_name: str, depth: int) -> Iterator[Observation]:
    """Lists of sensors and supplies, wherever they hang in the document."""
    if depth > DEEPEST or not isinstance(value, dict | list):
        return
    if isinstance(value, list):
        for one in value:
            yield from _states(document, one, source_name, depth + 1)
        return
    for key, inner in value.items():
        if key in _LISTS and isinstance(inner, list):
            yield from _sensors(document, inner, _LISTS[key], source_name)
        elif isinstance(inner, dict | list):
            yield from _states(document, inner, source_name, depth + 1)


def _sensors(document: JsonText, rows: list[Any], fault: str, source_name: str) -> Iterator[Observation]:
    for row in rows:
        status = row.get("Status") if isinstance(row, dict) else None
        if (
            not isinstance(status, dict)
            or status.get("Health") not in _BAD
            or status.get("State") in ("Absent", "Disabled")
        ):
            continue
        name = str(row.get("Name") or row.get("FanName") or row.get("MemberId") or "")
        line = document.locate("Health", value=f'"{status["Health"]}"', after=f'"{name}"')
        yield Observation(fault, line, source_name, component=name or None, order=line.number)


def _log(document: JsonText, entries: list[dict[str, Any]], source_name: str) -> list[Observation]:
    """Entries by their own time, newest last: a later one of the same sensor that is well takes the earlier back."""
    entries = sorted(entries, key=lambda one: str(one.get("Created") or one.get("EventTimestamp") or ""))
    found = []
    for at, entry in enumerate(entries):
        severity = entry.get("Severity") or entry.get("MessageSeverity")
        text = " ".join(str(entry.get(key) or "") for key in ("Message", "EntryCode", "SensorType"))
        if severity not in _BAD or _GOOD_AGAIN.search(text):
            continue
        fault = next((fault for pattern, fault in _SUBJECTS if pattern.search(text)), None)
        if fault:
            over = any(_takes_back(later, entry) for later in entries[at + 1 :])
            found.append(_say(document, entry, fault, "note" if over else "root", source_name))
    return found


def _takes_back(later: dict[str, Any], entry: dict[str, Any]) -> bool:
    same = later.get("SensorNumber") == entry.get("SensorNumber") and later.get("SensorType") == entry.get("SensorType")
    return (
        same
        and entry.get("SensorNumber") is not None
        and (later.get("Severity") or later.get("MessageSeverity")) == "OK"
    )


def _say(document: JsonText, entry: dict[str, Any], fault: str, role: Role, source_name: str) -> Observation:
    message = str(entry.get("Message") or "")
    key = "EntryCode" if entry.get("EntryCode") and entry["EntryCode"] not in ("Assert", "Deassert") else "Message"
    line: EvidenceLine = document.locate(key, value=f'"{str(entry.get(key) or "")[:30]}')
    return Observation(
        fault, line, source_name, role=role, component=_part(entry, message), detail=message, order=line.number
    )


def _part(entry: dict[str, Any], message: str) -> str | None:
    if match := re.search(r"(?i)\b(power supply \d+|fan \w+|inlet|DIMM[ _]?\w+|drive \d+|CPU ?\d+)", message):
        return match.group(1)
    number = entry.get("SensorNumber")
    return f"sensor {number}" if number is not None else None


FORMATS = {"redfish": Format("Redfish", (judge,), of("host.cooling", "host.power", "host.board"))}
