"""mlxlink: one link with its cable, as text ("Key : value" under section titles) or with --json.

Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
{"result": {"output": {"Operational Info": {"State": "Active", ...}, ...}}}
"""

import re
from dataclasses import dataclass, field
from typing import Any

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_COMMAND = re.compile(r"mlxlink\b.{0,80}?\s(?:-d|--device)[ =](?P<device>\S+)")
_VALUE = re.compile(r"(?P<key>[A-Z][\w /().\[\]\-,]{0,60}?)\s*:\s*(?P<value>\S.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Report:
    """`values`: field -> text as printed; `lines`: where each stood."""

    device: str
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, EvidenceLine] = field(default_factory=dict)

    def get(self, key: str) -> str:
        return self.values.get(key, "")


def of_text(text: str) -> list[Report]:
    found: list[Report] = []
    device = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if match := _COMMAND.search(line):
            device = match["device"]
        elif line.startswith("Operational Info"):
            found.append(Report(device))
        elif found and (match := _VALUE.match(line)):
            found[-1].values.setdefault(match["key"], match["value"])
            found[-1].lines.setdefault(match["key"], EvidenceLine(number, line))
    return found


def of_json(document: JsonText) -> list[Report]:
    report = Report(_device_of(document.value))
    for section in _output(document.value).values():
        for key, value in section.items() if isinstance(section, dict) else ():
            report.values.setdefault(key, _text(value))
            report.lines.setdefault(key, document.locate(key))
    return [report]


def _output(value: Any) -> dict[str, Any]:
    output = (value.get("result") or {}).get("output") if isinstance(value, dict) else None
    return output if isinstance(output, dict) else {}


def _device_of(value: Any) -> str:
    for section in _output(value).values():
        for key in ("Device", "device", "Device Name") if isinstance(section, dict) else ():
            if section.get(key):
                return str(section[key])
    return ""


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return _text(value.get("values", value.get("value", "")))
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


JSON_KINDS: JsonKinds = (("mlxlink", lambda value: "Operational Info" in _output(value)),)
TEXT_KINDS: TextKinds = (("mlxlink-text", matches(r"(?m:^[ \t]*Operational Info[ \t\r]*$)")),)
