"""What a BMC says, as data: its events, states, fields and messages, and the fault that each means."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from diagnostics.engine.catalog import table
from diagnostics.engine.types import Role
from incidents.domain import faults


@dataclass(frozen=True, slots=True)
class Meaning:
    fault: str
    role: Role = "root"
    severity: str | None = None


@dataclass(frozen=True, slots=True)
class EventRule:
    """`kind` is looked for in the sensor's type and name together, `event` in what is said of it."""

    kind: re.Pattern[str]
    event: re.Pattern[str]
    meaning: Meaning | None


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a sensor, by the unit of its reading or by its name."""

    pattern: re.Pattern[str]
    kind: str


@dataclass(frozen=True, slots=True)
class StateBit:
    """What a set bit of a discrete sensor says; `needs` are bits without which it says nothing (an empty bay)."""

    name: re.Pattern[str]
    bit: int
    event: str
    kind: str
    needs: int


@dataclass(frozen=True, slots=True)
class FieldRule:
    key: re.Pattern[str]
    value: re.Pattern[str]
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class MessageRule:
    """`id` is looked for in a MessageId, `text` in the message. No `meaning`: known and of no interest."""

    id: re.Pattern[str] | None
    text: re.Pattern[str] | None
    meaning: Meaning | None


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """The fault of a Redfish resource that is not well; `name` is looked for in what it is called, `rank` 1 is a group, 2 a whole."""

    type: re.Pattern[str]
    name: re.Pattern[str] | None
    critical: Meaning
    warning: Meaning
    rank: int


@lru_cache(maxsize=1)
def event_rules() -> tuple[EventRule, ...]:
    return tuple(
        EventRule(_re(row["kind"]), _re(row["event"]), _meaning(row)) for row in table("bmc_events.toml")["event"]
    )


@lru_cache(maxsize=1)
def kinds() -> tuple[Kind, ...]:
    return tuple(Kind(_re(row["pattern"]), row["kind"]) for row in table("bmc_sensors.toml")["kind"])


@lru_cache(maxsize=1)
def state_bits() -> tuple[StateBit, ...]:
    rows = table("bmc_sensors.toml")["bit"]
    return tuple(
        StateBit(_re(row["name"]), row["bit"], row["event"], row["kind"], sum(1 << bit for bit in row.get("needs", ())))
        for row in rows
    )


@lru_cache(maxsize=1)
def field_rules() -> tuple[FieldRule, ...]:
    return tuple(
        FieldRule(_re(row["key"]), _re(row["value"]), _known(row)) for row in table("bmc_fields.toml")["field"]
    )


@lru_cache(maxsize=1)
def message_rules() -> tuple[MessageRule, ...]:
    rows = table("bmc_messages.toml")["message"]
    return tuple(
        MessageRule(_re(row["id"]) if "id" in row else None, _re(row["text"]) if "text" in row else None, _meaning(row))
        for row in rows
    )


@lru_cache(maxsize=1)
def resource_rules() -> tuple[ResourceRule, ...]:
    return tuple(_resource(row) for row in table("bmc_resources.toml")["resource"])


@lru_cache(maxsize=1)
def flags() -> tuple[FieldRule, ...]:
    """Properties of Redfish resources that tell a fault by themselves."""
    return tuple(
        FieldRule(_re(row["key"]), _re(row["value"]), _known(row)) for row in table("bmc_resources.toml")["flag"]
    )


def _resource(row: dict[str, Any]) -> ResourceRule:
    critical = _known(row)
    warning = Meaning(faults.get(row["warning"]).code) if "warning" in row else critical
    return ResourceRule(
        _re(row["type"]), _re(row["name"]) if "name" in row else None, critical, warning, row.get("rank", 0)
    )


def _meaning(row: dict[str, Any]) -> Meaning | None:
    return _known(row) if row.get("fault") else None


def _known(row: dict[str, Any]) -> Meaning:
    return Meaning(faults.get(row["fault"]).code, row.get("role", "root"), row.get("severity"))


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
