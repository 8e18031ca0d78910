"""What is plugged in, by `ipmitool fru`.

FRU Device Description : PSU1 (ID 2)
 Board Product         : PWR SPLY,3000W
 Board Serial          : CN0001
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers import ipmi_fields
from diagnostics.engine.parsers.recognise import TextKinds, matches

_ID = re.compile(r"\s*\(ID \d+\)$")
_SERIALS = ("product serial", "board serial", "chassis serial")
_MODELS = ("product name", "board product", "product part number", "board part number")


@dataclass(frozen=True, slots=True)
class Unit:
    """A field-replaceable unit; what it does not tell is empty."""

    name: str
    serial: str
    model: str


def units(text: str) -> list[Unit]:
    found: list[dict[str, str]] = []
    for field in ipmi_fields.fields(text):
        if field.key == "fru device description":
            found.append({"name": _ID.sub("", field.value)})
        elif found:
            found[-1].setdefault(field.key, field.value)
    return [Unit(one["name"], _first(one, _SERIALS), _first(one, _MODELS)) for one in found]


def _first(values: dict[str, str], keys: tuple[str, ...]) -> str:
    return next((values[key] for key in keys if values.get(key)), "")


TEXT_KINDS: TextKinds = (("ipmi-fru", matches(r"(?m:^FRU Device Description : )")),)
