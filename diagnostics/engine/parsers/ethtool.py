"""ethtool IF, ethtool -m IF and ip link: network interfaces and their modules.

Settings for ens1np0: / Speed: 100000Mb/s / Link detected: yes              ethtool
Module temperature high alarm                             : Off             ethtool -m
3: ens1np0: <NO-CARRIER,BROADCAST,UP> mtu 9000 ... state DOWN               ip link
ens1np0     DOWN     a0:88:c2:11:20:30 <NO-CARRIER,BROADCAST,UP>            ip -br link
[{"ifname": "ens1np0", "flags": ["NO-CARRIER", "UP"], "mtu": 9000}]         ip -j link
"""

import re
from dataclasses import dataclass, field

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_SETTINGS = re.compile(r"Settings for (?P<name>[\w.\-@]+):")
_MODULE_OF = re.compile(r"ethtool\s+(?:-m|--module-info|--dump-module-eeprom)\s+(?P<name>[\w.\-]+)")
_KEY = re.compile(r"(?P<key>[A-Z][\w /()\-]{0,80}?)\s*:\s+(?P<value>\S.*?)\s*$")
_MODE = re.compile(r"\b(\d+)base\w+/Full")
_LINK = re.compile(r"\d+: (?P<name>[\w.\-]+)(?:@[\w.\-]+)?: <(?P<flags>[A-Z_,\-]*)> mtu (?P<mtu>\d+)(?P<rest>.*)$")


_BRIEF = re.compile(
    r"(?P<name>[\w.\-]+)(?:@[\w.\-]+)?\s+(?:UP|DOWN|UNKNOWN|DORMANT|LOWERLAYERDOWN|TESTING|NOTPRESENT)\s+"
    r"(?P<address>[0-9a-f:]{17,60})\s+<(?P<flags>[A-Z_,\-]*)>\s*$"
)
_IB_ADDRESS = 59  # characters of twenty bytes


@dataclass(frozen=True, slots=True)
class Interface:
    """`values`: field -> text; `supported`: the fastest mode in Mb/s that it lists, `partner` that its link partner lists."""

    name: str
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, EvidenceLine] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)

    @property
    def speed(self) -> int | None:
        match = re.match(r"(\d+)Mb/s", self.values.get("Speed", ""))
        return int(match.group(1)) if match else None


@dataclass(frozen=True, slots=True)
class IpLink:
    """`mtu` is 0 where it was not printed."""

    name: str
    flags: frozenset[str]
    mtu: int
    master: bool
    infiniband: bool
    line: EvidenceLine


def interfaces(text: str) -> list[Interface]:
    found: list[Interface] = []
    heading = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if match := _SETTINGS.search(line):
            found.append(Interface(match["name"]))
            heading = ""
            continue
        if not found:
            continue
        if match := _KEY.match(line):
            heading = match["key"]
            found[-1].values.setdefault(heading, match["value"])
            found[-1].lines.setdefault(heading, EvidenceLine(number, line))
        for mode in _MODE.finditer(line):
            speed, modes = int(mode.group(1)), found[-1].modes
            modes[heading] = max(modes.get(heading, 0), speed)
            modes[f"slowest {heading}"] = min(modes.get(f"slowest {heading}", speed), speed)
    return found


def modules(text: str) -> list[Interface]:
    """What `ethtool -m` prints, one for each module."""
    found: list[Interface] = []
    name = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if match := _MODULE_OF.search(line):
            name = match["name"]
        elif match := _KEY.match(line):
            if match["key"] == "Identifier":
                found.append(Interface(name))
            if found:
                found[-1].values.setdefault(match["key"], match["value"])
                found[-1].lines.setdefault(match["key"], EvidenceLine(number, line))
    return found


def ip_links(text: str) -> list[IpLink]:
    rows = text.splitlines()
    found = []
    for number, raw in enumerate(rows, 1):
        if ": <" in raw and (match := _LINK.search(raw)):
            below = rows[number] if number < len(rows) else ""
            infiniband = "link/infiniband" in raw or "link/infiniband" in below
            flags = frozenset(match["flags"].split(","))
            found.append(
                IpLink(match["name"], flags, int(match["mtu"]), " master " in match["rest"], infiniband,
                       EvidenceLine(number, raw.strip()))
            )  # fmt: skip
        elif raw.rstrip().endswith(">") and (match := _BRIEF.search(raw)):
            flags = frozenset(match["flags"].split(","))
            infiniband = len(match["address"]) >= _IB_ADDRESS
            found.append(IpLink(match["name"], flags, 0, False, infiniband, EvidenceLine(number, raw.strip())))
    return found


def ip_links_of_json(document: JsonText) -> list[IpLink]:
    return [
        IpLink(
            str(row["ifname"]), frozenset(map(str, row["flags"])), int(row.get("mtu") or 0), "master" in row,
            row.get("link_type") == "infiniband", document.locate("ifname", value=f'"{row["ifname"]}"'),
        )
        for row in document.value
        if isinstance(row, dict) and "ifname" in row and isinstance(row.get("flags"), list)
    ]  # fmt: skip


_MODULE_WORDS = ("Transceiver", "Connector", "Vendor name", "Module temperature", "Laser ")


def _is_module(head: str) -> bool:
    return re.search(r"(?m:^[ \t]*Identifier[ \t]*: 0x)", head) is not None and any(w in head for w in _MODULE_WORDS)


TEXT_KINDS: TextKinds = (
    ("ethtool", matches(r"(?m:^.{0,60}\bSettings for [\w.\-@]+:[ \t\r]*$)")),
    ("ethtool-module", _is_module),
    ("ip-link", matches(r"(?m:^[\w.\-@]+[ \t]+(?:UP|DOWN|UNKNOWN)[ \t]+[0-9a-f:]{17,60}[ \t]+<[A-Z_,\-]*>)")),
    ("ip-link", matches(r"(?m:^.{0,60}\b\d+: [\w.\-]+(?:@[\w.\-]+)?: <[A-Z_,\-]*> mtu \d+)")),
)


def _is_ip_link(value: object) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and "ifname" in first and isinstance(first.get("flags"), list)


JSON_KINDS: JsonKinds = (("ip-link-json", _is_ip_link),)
