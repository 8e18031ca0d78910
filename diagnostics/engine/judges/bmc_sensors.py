"""The BMC's sensors: what is beyond its critical limit or in a bad state now. What cannot be read is no fault."""

import re
from dataclasses import replace

from diagnostics.engine.catalog import bmc as catalog
from diagnostics.engine.catalog import thresholds
from diagnostics.engine.catalog.bmc import Meaning
from diagnostics.engine.parsers import ipmi_blocks, ipmi_sensors
from diagnostics.engine.parsers.ipmi_sensors import Sensor
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_UNREAD = frozenset(["ns", "na", "n/a"])
_LEVELS = {"nc": "Non-critical", "cr": "Critical", "nr": "Non-recoverable"}
_SIDES = {"l": "Lower", "u": "Upper"}
_LOW_KINDS = ("Fan", "Voltage", "Battery")  # whose trouble is to fall, where the table does not say on which side
_WELL = re.compile(
    r"Presence detected|Fully Redundant|^OK$|State Deasserted|Drive Present|Transition to (?:OK|Running)", re.IGNORECASE
)
# IPMI 2.0 table 43-13: what a sensor watches whose name does not tell.
_ENTITIES = {
    "3": "Processor",
    "4": "Drive Slot",
    "8": "Memory",
    "10": "Power Supply",
    "29": "Fan",
    "30": "Fan",
    "32": "Memory",
}
_VAGUE = ("Status", "Redundancy", "Presence", "Temp", "Voltage", "Current")


def judge(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for sensor in (*ipmi_sensors.sensors(log.text), *ipmi_blocks.sensors(log.text)):
        if meaning := _meaning(sensor):
            line = EvidenceLine(sensor.number, sensor.raw)
            found.append(
                Observation(
                    meaning.fault, line, source_name, role=meaning.role, component=_name(sensor), severity=meaning.severity,
                    order=sensor.number,
                )
            )  # fmt: skip
    return found


def _name(sensor: Sensor) -> str:
    """The name as printed; one that tells nothing, with the part that it watches."""
    return f"{sensor.name} {sensor.entity}" if sensor.name in _VAGUE and sensor.entity else sensor.name


def _meaning(sensor: Sensor) -> Meaning | None:
    if sensor.status == "nominal":
        return None
    kind = sensor.kind or kind_of(sensor.name, sensor.reading) or _ENTITIES.get(sensor.entity.split(".")[0], "")
    if sensor.states is not None:
        return _of_bits(sensor)
    limit = _limit(sensor, kind)
    if limit and _is_broken(sensor, kind, limit):
        return Meaning("bmc.sensor_gap", "note")
    for said in (limit, sensor.events, "" if limit and sensor.value is not None else sensor.reading):
        meaning = event_meaning(kind, sensor.name, said)
        if meaning:
            return meaning
    return _called_bad(sensor, kind)


def _called_bad(sensor: Sensor, kind: str) -> Meaning | None:
    """The tool itself says critical: a state that we have no name for."""
    if sensor.status in ("critical", "warning") and not _WELL.search(sensor.events):
        return Meaning("node.unclassified", "root" if sensor.status == "critical" else "note")
    if sensor.status[-2:] in ("cr", "nr") and not _WELL.search(sensor.reading):
        return event_meaning(kind, sensor.name, "Transition to Critical") or Meaning("node.unclassified", "note")
    return None


def kind_of(name: str, reading: str) -> str:
    text = f"{name} {reading}"
    return next((kind.kind for kind in catalog.kinds() if kind.pattern.search(text)), "")


def event_meaning(kind: str, name: str, said: str) -> Meaning | None:
    if not said:
        return None
    where = f"{kind} {name}"
    for rule in catalog.event_rules():
        if rule.kind.search(where) and rule.event.search(said):
            return rule.meaning
    return None


def _limit(sensor: Sensor, kind: str) -> str:
    """`lcr` -> "Lower Critical"; `cr` on the side on which such a sensor fails."""
    level = _LEVELS.get(sensor.status[-2:])
    if not level or sensor.status in ("ok", *_UNREAD):
        return ""
    side = _SIDES.get(sensor.status[0]) if len(sensor.status) == 3 else None
    return f"{side or ('Lower' if kind in _LOW_KINDS else 'Upper')} {level}"


def _is_broken(sensor: Sensor, kind: str, limit: str) -> bool:
    value = sensor.value
    return (
        kind == "Temperature"
        and value is not None
        and (value < thresholds()["bmc"]["coldest_c"] or limit.startswith("Lower"))
    )


def _of_bits(sensor: Sensor) -> Meaning | None:
    states = sensor.states or 0
    for rule in catalog.state_bits():
        if rule.name.search(sensor.name) and states >> rule.bit & 1 and states & rule.needs == rule.needs:
            return event_meaning(rule.kind, sensor.name, rule.event)
    return None


def meaning_of_limit(kind: str, name: str, severity: str) -> Meaning:
    """The fault of a sensor that is called critical or warning without a word more."""
    if severity != "critical":
        return replace(meaning_of_limit(kind, name, "critical"), role="note")
    side = "Lower" if kind in _LOW_KINDS else "Upper"
    return (
        event_meaning(kind, name, f"{side} Critical")
        or event_meaning(kind, name, "Failure detected")
        or event_meaning(kind, name, "Transition to Critical")
        or Meaning("node.unclassified")
    )
