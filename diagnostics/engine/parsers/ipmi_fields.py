"""What BMC tools print as `Key : value`, one a line.

System Power         : on
Chassis Intrusion    : inactive
Free Space       : 0 bytes
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_ROW = re.compile(r"[>\s]*(?P<key>[A-Za-z][\w /+\-.]{0,40}?)\s*:(?:\s(?P<value>.*))?$")
_GOES_ON = re.compile(r"\s+:\s?")


@dataclass(frozen=True, slots=True)
class Field:
    """A row; a row without a key belongs to the key above it."""

    key: str
    value: str
    line: EvidenceLine


def fields(text: str) -> list[Field]:
    found: list[Field] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _ROW.match(raw):
            line = EvidenceLine(number, raw.strip())
            found.append(Field(match["key"].lower(), (match["value"] or "").strip(), line))
        elif found and _GOES_ON.match(raw):
            found.append(Field(found[-1].key, raw.split(":", 1)[1].strip(), EvidenceLine(number, raw.strip())))
    return found


TEXT_KINDS: TextKinds = (
    (
        "ipmi-sel-info",
        matches(r"(?m:^SEL Information|^Percent Used\s+: \d+%|^Free space remaining\s*:|^Events drop due to lack)"),
    ),
    (
        "ipmi-chassis",
        matches(r"(?m:^System Power\s*: (?:on|off)|^Main Power Fault\s*:|^Chassis Power is o|^Last Power Event\s*:)"),
    ),
    (
        "ipmi-controller",
        matches(
            r"(?m:^Selftest\s*: |^Device Available\s*: |^IPMI Version\s*: \d|^[ \t]*Instantaneous power reading|^session handle\s*: )"
        ),
    ),
    (
        "ipmi-lan",
        matches(r"(?m:^Auth Type Enable\s*:|^RMCP\+ Cipher Suites|^Cipher Suite Priv Max|^IP Address Source\s*: )"),
    ),
)
