"""ibstat: adapters and their ports. ibqueryerrors: counters of ports."""

import re
from dataclasses import dataclass, field

from diagnostics.engine.parsers.recognise import TextKinds, matches

_CA = re.compile(r"CA '(?P<name>[^']+)'")
_VALUE = re.compile(r"\s+(?P<key>State|Physical state|Rate|Link layer): (?P<value>.*?)\s*$")
_ERRORS = re.compile(r"\s*GUID (?P<guid>0x[0-9a-f]+) port (?P<port>\w+): (?P<counters>\[.*)$")
_COUNTER = re.compile(r"\[(?P<name>\w+) == (?P<value>\d+)")


@dataclass(frozen=True, slots=True)
class Port:
    """`values` are state, physical_state, rate, link_layer; `lines` holds where each stood."""

    adapter: str
    port: str
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counters:
    guid: str
    port: str
    values: dict[str, int]
    number: int
    raw: str


def ports(text: str) -> list[Port]:
    found: list[Port] = []
    adapter = ""
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _CA.match(raw.strip()):
            adapter = match["name"]
        elif match := re.match(r"\s+Port (\d+):\s*$", raw):
            found.append(Port(adapter, match.group(1)))
        elif found and (match := _VALUE.match(raw)):
            key = match["key"].lower().replace(" ", "_")
            found[-1].values[key] = match["value"]
            found[-1].lines[key] = (number, raw.strip())
    return found


def counters(text: str) -> list[Counters]:
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _ERRORS.match(raw):
            values = {one["name"]: int(one["value"]) for one in _COUNTER.finditer(match["counters"])}
            found.append(Counters(match["guid"], match["port"], values, number, raw.strip()))
    return found


TEXT_KINDS: TextKinds = (
    ("ibstat", matches(r"(?m:^CA '\w+')")),
    ("ibqueryerrors", matches(r"(?m:^\s*GUID 0x[0-9a-f]+ port \w+: \[)")),
)
