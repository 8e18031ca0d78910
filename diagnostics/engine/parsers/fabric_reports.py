"""What is printed of a whole fabric.

CA: n1 mlx5_0: / 0x1 5 1[  ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 0x2 12 3[  ] "sw" ( )    iblinkinfo; with -l
                                                          the name stands in each line: 0x1 "n1 mlx5_0" 5 1[  ] ==( ...
Ca 1 "H-a0" # "n1 mlx5_0" / [1](a0) "S-fc"[19] # lid 132 lmc 0 "leaf" lid 22 4xNDR              ibnetdiscover
-I- Port Counters             0          2                                                ibdiagnet, table of stages
[{"name": "Link is Down", "severity": "Critical", "object_path": ...}]                      UFM events
"""

import re
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, any_of, matches
from diagnostics.engine.types import EvidenceLine

_NODE = re.compile(r"(?P<kind>CA|Switch|Router)(?:: | 0x[0-9a-f]+ )(?P<name>.*?):?$")
_LINK = re.compile(
    r"(?P<lid>\d+)\s+(?P<port>\d+)\[ *\] ==\(\s*(?P<speed>.*?)(?P<state>Active|Initialized?|Armed|Down)/\s*"
    r"(?P<physical>\w+)\)==>(?P<rest>.*)$"
)
_NAME_BEFORE = re.compile(r'0x[0-9a-f]+ "(?P<name>[^"]{1,100})"\s+\d+\s+\d+\[')  # the form of -l
_ADAPTER = re.compile(r"\b(?:mlx\d|HCA|hfi1|ibp)")
_TOPOLOGY_NODE = re.compile(r'(?P<kind>Ca|Switch|Rt)\s+\d+\s+"[SHR]-\w+"\s+# "(?P<name>[^"]*)"')
_TOPOLOGY_PORT = re.compile(
    r'\[(?P<port>\d+)\](?:\(\w+\))?\s+"[SHR]-\w+"\[\d+\].*\s(?P<width>\d+)x(?P<speed>[A-Z]+\d*)$'
)
_STAGE = re.compile(r"-I- (?P<stage>[A-Z][\w /()]{0,60}?)\s{2,}(?P<warnings>\d+)\s+(?P<errors>\d+)\b")


@dataclass(frozen=True, slots=True)
class FabricLink:
    """One direction of one link: `better` is True if both ends could be faster."""

    node: str
    is_switch: bool
    port: str
    state: str
    better: bool
    line: EvidenceLine


@dataclass(frozen=True, slots=True)
class AdapterLink:
    """The port of an adapter as ibnetdiscover found it: `width` lanes of one `speed` (NDR)."""

    node: str
    port: str
    width: int
    speed: str
    line: EvidenceLine

    @property
    def host(self) -> str:
        return self.node.split(" ")[0]


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    errors: int
    line: EvidenceLine


def links(text: str) -> list[FabricLink]:
    found = []
    node, is_switch = "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if "] ==(" in line and (match := _LINK.search(line)):
            better = "Could be" in match["rest"] or "Could be" in match["speed"]
            if named := _NAME_BEFORE.match(line):
                node = named["name"].strip()
                is_switch = not _ADAPTER.search(node)
            found.append(FabricLink(node, is_switch, match["port"], match["state"], better, EvidenceLine(number, line)))
        elif match := _NODE.match(line):
            node, is_switch = match["name"], match["kind"] != "CA"
    return found


def adapter_links(text: str) -> list[AdapterLink]:
    found = []
    node = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if match := _TOPOLOGY_NODE.match(line):
            node = match["name"].strip() if match["kind"] == "Ca" else ""
        elif node and line.startswith("[") and (match := _TOPOLOGY_PORT.match(line)):
            evidence = EvidenceLine(number, line)
            found.append(AdapterLink(node, match["port"], int(match["width"]), match["speed"], evidence))
    return found


def stages(text: str) -> list[Stage]:
    rows = enumerate(text.splitlines(), 1)
    found = ((number, raw.strip(), _STAGE.search(raw)) for number, raw in rows)
    return [
        Stage(match["stage"], int(match["errors"]), EvidenceLine(number, raw)) for number, raw, match in found if match
    ]


def ufm_events(value: Any) -> list[dict[str, Any]]:
    rows = value.get("events", value) if isinstance(value, dict) else value
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _is_ufm(value: Any) -> bool:
    rows = ufm_events(value)
    return bool(rows) and all("severity" in row and ("object_path" in row or "object_name" in row) for row in rows[:5])


JSON_KINDS: JsonKinds = (("ufm-events", _is_ufm),)
TEXT_KINDS: TextKinds = (
    ("iblinkinfo", matches(r"(?m:\[ *\] ==\(.{0,60}\)==>)")),
    ("ibdiagnet", matches(r"(?m:^-I- Stage\s+Warnings\s+Errors|^Running version:? .{0,40}IBDIAGNET|^Loading IBDIAGNET)")),
    ("fabric-tool", matches(
        r"(?m:^DEV\s+PORT\s+INDEX\s+GID|^sminfo: sm lid|\bMST modules:|^Querying Mellanox devices firmware|^Image type:\s+FS\d"
        r"|^vendid=0x[0-9a-f]+$|^# Topology file: generated on|^PFC configuration:)"
    )),
    ("fabric-tool", any_of("[MST module", "MST PCI module")),
)  # fmt: skip
