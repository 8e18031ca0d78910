"""The health of Redfish resources: the sick part, not the whole around it that only repeats its health."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from diagnostics.engine.catalog import bmc as catalog
from diagnostics.engine.catalog.bmc import Meaning
from diagnostics.engine.judges import bmc_messages
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.redfish import resources, text_of
from diagnostics.engine.types import EvidenceLine, Observation

_BAD = ("Critical", "Warning")
_GONE = ("Absent", "StandbyOffline", "StandbySpare", "InTest", "Updating", "Starting", "Deferring")
_SWITCHED_OFF = "Disabled"
_PARTS = re.compile(
    r"^(?:Memory|Processors?|Drives?|PowerSuppl(?:y|ies))$"
)  # switched off and sick: taken out for its fault
_NAMES = ("DeviceLocator", "Name", "FanName", "MemberId", "Id")
_COMMON_NAMES = re.compile(
    r"^(?:Processor|Memory|Drive|Port|Power Supply|Fan|Sensor|CPU|DIMM|PCIe Device|Network Adapter(?: View)?)$", re.I
)
_SENSOR_KINDS = {
    "Temperature": "Temperature",
    "Rotational": "Rotational",
    "Voltage": "Voltage",
    "Current": "Current",
    "Power": "Power",
}
_BAY = re.compile(r"\b(?:bay|slot)[. _]?\d", re.IGNORECASE)  # where to pull it
_WHOLE = 2


class Sick(NamedTuple):
    rank: int
    seen: Observation


def judge(document: JsonText, *, source_name: str) -> list[Sick]:
    """All that is not well; the caller leaves out the wholes where a part is known."""
    found: list[Sick] = []
    for kind, value in resources(document.value):
        found += _health(document, kind, value, source_name)
        found += _flags(document, kind, value, source_name)
    return found


def keep_parts(found: list[Sick]) -> list[Observation]:
    """Parts; the groups if their fault has no part; the wholes only if there is nothing else."""
    parts = [sick.seen for sick in found if sick.rank == 0]
    known = {seen.fault for seen in parts if seen.role == "root"}
    groups = [sick.seen for sick in found if sick.rank == 1 and sick.seen.fault not in known]
    families = {seen.fault.rsplit(".", 1)[0] for seen in parts if seen.role == "root"}
    groups = [seen for seen in groups if seen.fault.rsplit(".", 1)[0] not in families]
    if known or groups:
        return parts + groups
    return parts + [sick.seen for sick in found if sick.rank == _WHOLE][:1]


def _health(document: JsonText, kind: str, value: dict[str, Any], source_name: str) -> Iterator[Sick]:
    status = value.get("Status")
    if isinstance(status, str):  # "Status": "Warning" of old controllers
        status = {"Health": status}
    if not isinstance(status, dict):
        return
    health, state = text_of(status.get("Health")), text_of(status.get("State"))
    rolled = text_of(status.get("HealthRollup") or status.get("HealthRollUp"))
    word = health if health in _BAD else rolled
    if word not in _BAD or _is_out(kind, state):
        return
    key = "Health" if health in _BAD else "HealthRollup"
    conditions = _conditions(document, kind, value, status, source_name)
    if conditions:
        yield from conditions
        return
    name = _name(kind, value)
    meaning, rank = _meaning(kind, name, value, word)
    if meaning is None:
        return
    if health not in _BAD:  # only what it holds is sick
        rank = max(rank, 1)
    line = document.locate(key, value=f'"{word}"', after=f'"{_anchor(value)}"')
    yield Sick(
        rank,
        Observation(meaning.fault, line, source_name, role=meaning.role, component=name or None, order=line.number),
    )


def _is_out(kind: str, state: str) -> bool:
    return state in _GONE or (state == _SWITCHED_OFF and not _PARTS.match(kind))


def _meaning(kind: str, name: str, value: dict[str, Any], health: str) -> tuple[Meaning | None, int]:
    if kind in ("Sensor", "Sensors", "TemperatureReadingsCelsius"):
        kind = _SENSOR_KINDS.get(text_of(value.get("ReadingType")), kind)
    where = " ".join(
        (name, text_of(value.get("Name")), text_of(value.get("Id")), text_of(value.get("ProcessorType")), _path(value))
    )
    for rule in catalog.resource_rules():
        if rule.type.search(kind) and (rule.name is None or rule.name.search(where)):
            return (rule.critical if health == "Critical" else rule.warning), rule.rank
    return (Meaning("node.unclassified"), _WHOLE) if "@odata.id" in value else (None, _WHOLE)


def _path(value: dict[str, Any]) -> str:
    """The last piece of its address: it may name the part where the name does not."""
    return text_of(value.get("@odata.id")).rstrip("/").rsplit("/", 1)[-1]


def _name(kind: str, value: dict[str, Any]) -> str:
    names = [text for key in _NAMES if (text := text_of(value.get(key)).strip())]
    telling = [name for name in names if not _COMMON_NAMES.match(name) and name != kind]
    if kind.startswith("Drive") and (bay := next((name for name in names if _BAY.search(name)), "")):
        return bay
    found = (telling or names or [""])[0]
    if found.isdecimal():  # a bare number tells nothing without the kind of part
        common = next((name for name in names if name != found), kind.removesuffix("s"))
        return f"{common} {found}".strip()
    return found


def _anchor(value: dict[str, Any]) -> str:
    """The text after which the health stands: the address if the object has one, for names repeat."""
    return next((text for key in (*_NAMES[1:], "@odata.id") if (text := text_of(value.get(key)))), "")


def _conditions(
    document: JsonText, kind: str, value: dict[str, Any], status: dict[str, Any], source_name: str
) -> list[Sick]:
    """What the resource itself gives as the reason for its health."""
    rows = status.get("Conditions")
    found = []
    own, _ = _meaning(kind, _name(kind, value), value, "Critical")
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        message, message_id = text_of(row.get("Message")), text_of(row.get("MessageId"))
        meaning = bmc_messages.meaning(
            message, message_id=message_id, severity=text_of(row.get("Severity")) or "Critical"
        )
        if meaning and own and own.fault.startswith("facility.") and not meaning.fault.startswith("facility."):
            meaning = own  # a temperature of the coolant is the rack's, not the node's
        if meaning:
            line: EvidenceLine = document.locate("Message", value=f'"{message[:30]}')
            part = bmc_messages.part(message) or _name(kind, value)
            found.append(
                Sick(0, Observation(meaning.fault, line, source_name, role=meaning.role, component=part, detail=message, order=line.number))
            )  # fmt: skip
    return found


def _flags(document: JsonText, kind: str, value: dict[str, Any], source_name: str) -> Iterator[Sick]:
    for key, inner in value.items():
        if not isinstance(inner, str | bool):
            continue
        word = str(inner).lower() if isinstance(inner, bool) else inner
        for rule in catalog.flags():
            if rule.key.search(key) and rule.value.search(word):
                name = _name(kind, value)
                place = f'"{_anchor(value)}"'
                line = document.locate(key, value=word if isinstance(inner, bool) else f'"{word}"', after=place)
                seen = Observation(
                    rule.meaning.fault,
                    line,
                    source_name,
                    role=rule.meaning.role,
                    component=name or None,
                    order=line.number,
                )
                yield Sick(0, seen)
