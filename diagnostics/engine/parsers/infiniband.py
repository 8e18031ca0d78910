"""RDMA adapters and their ports, as the tools of a node print them.

CA 'mlx5_0' / Port 1: / State: Active                        ibstat
Infiniband device 'mlx5_0' port 1 status: / state: 4: ACTIVE ibstatus
hca_id: mlx5_0 / port: 1 / state: PORT_ACTIVE (4)            ibv_devinfo
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev e0  rdma link
[{"ifname": "mlx5_0", "port": 1, "state": "ACTIVE", ...}]    rdma -j link
mlx5_0 port 1 ==> ens1np0 (Up)                               ibdev2netdev
device  node GUID / ------ --- / mlx5_0  a088c20300112030    ibv_devices
# Port info: Lid 4 port 1 / LinkState:.......Active            ibportstate, smpquery portinfo
/sys/class/infiniband/mlx5_0/ports/1/state / 4: ACTIVE       cat of sysfs, the value on the next line
"""

import re
from dataclasses import dataclass, field

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches

_CA = re.compile(r"(?:CA:? '|hca_id:\s*)(?P<adapter>[\w.\-]+)")
_STATUS = re.compile(r"Infiniband device '(?P<adapter>[^']+)' port (?P<port>\d+) status:", re.IGNORECASE)
_BARE_PORT = re.compile(r"Port \d+:$|port:\s+\d+$")  # without the adapter that it belongs to
_INFO = re.compile(r"# Port info: (?P<who>Lid \d+.{0,80}?) port (?P<port>\d+)$")
_INFO_VALUE = re.compile(r"(?P<key>LinkState|PhysLinkState|LinkWidthActive):\.{2,}(?P<value>\S.*)$")
_INFO_KEYS = {"LinkState": "state", "PhysLinkState": "physical_state", "LinkWidthActive": "active_width"}
_MOST_ADAPTER_PORTS = 2  # more have only switches, and those have free ones
_SYSFS = re.compile(
    r"/sys/class/infiniband/(?P<adapter>[\w.\-]+)/ports/(?P<port>\d+)/(?P<key>state|phys_state)(?: <==)?$"
)
_DEVICES = re.compile(r"device\s+node GUID$")
_RULES = re.compile(r"-+\s+-+$")
_DEVICE = re.compile(r"(?P<adapter>[A-Za-z][\w.\-]*)\s+(?P<guid>[0-9a-f]{16})$")
_PORT = re.compile(r"(?i:port)\s*:?\s*(?P<port>\d+)\s*:?\s*$")
_VALUE = re.compile(
    r"(?P<key>CA type|vendor_part_id|(?:Physical|phys|Port)[ _]state|State|Rate|Link[ _]layer|active_width|active_speed|SM[ _]lid)"
    r"\s*:\s*(?P<value>\S.*?)\s*$",
    re.IGNORECASE,
)
_RDMA_LINK = re.compile(r"(?:\d+/\d+: |link )(?P<adapter>[\w.\-]+)/(?P<port>\d+):? (?P<rest>.*\bstate \S+.*)$")
_NETDEV = re.compile(
    r"\b(?P<adapter>\w{1,30})(?: \(.{0,120}?\) .{0,60}?)? ?port (?P<port>\d+)(?: \((?P<state>\w+) *\))? ==> "
    r"(?P<netdev>\S+) \((?P<ip>\w+)\)"
)
_ANY = re.compile(  # a prompt or a host's name may stand before it
    r"(?:^|\s|:)(?P<text>(?:CA:? '|hca_id:|Infiniband device '|link \S+/\d+ |\d+/\d+: \S+/\d+:? ).*)$", re.IGNORECASE
)
_ROW = re.compile(  # a script's own row, from sysfs or from ibstat
    r"\b(?P<adapter>(?:mlx[45]|bnxt_re|irdma|hfi1|roce)\w{0,20})\b.{0,40}?(?P<state>\b\d: [A-Z]{4,8}\b|\bState: \w+)(?P<rest>.*)$"
)
_ROW_PHYSICAL = re.compile(r"\b\d: (?:LinkUp|Polling|Disabled|Sleep|LinkErrorRecovery)\b|Physical state: (?P<word>\w+)")
_ROW_RATE = re.compile(r"\b(?P<rate>\d+ Gb/sec \([^)]{1,20}\))|Rate: (?P<number>\d+)")
_KEYS = {"phys_state": "physical_state", "port_state": "state", "vendor_part_id": "ca_type"}


@dataclass(frozen=True, slots=True)
class Port:
    """`values` are state, physical_state, rate, link_layer, netdev ...; `lines` holds where each stood."""

    adapter: str
    port: str
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """active, down, init, armed ... in one spelling; empty if it was not printed."""
        word = _word(self.values.get("state", "")).removeprefix("port_")
        return "init" if word.startswith("init") else word

    @property
    def physical(self) -> str:
        return re.sub(r"[^a-z]", "", _word(self.values.get("physical_state", "")))

    @property
    def rate(self) -> float | None:
        """Gb/s."""
        match = re.match(r"\d+(?:\.\d+)?", self.values.get("rate", ""))
        return float(match.group()) if match else None

    @property
    def width(self) -> int | None:
        match = re.search(r"\b(\d+)X\b", self.values.get("active_width") or self.values.get("rate", ""))
        return int(match.group(1)) if match else None

    @property
    def is_ethernet(self) -> bool:
        return self.values.get("link_layer", "").lower().startswith("ether")


def ports(text: str) -> list[Port]:
    found: list[Port] = []
    adapter = ""
    traits: dict[str, str] = {}
    asked: re.Match[str] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if match := _ANY.search(line):
            line = match["text"]
        if match := _CA.match(line):
            adapter, traits = match["adapter"], {}
        elif match := _INFO.search(line):
            adapter = ""
            found.append(Port(f"{match['who']} port {match['port']}", match["port"], {"link_layer": "InfiniBand"}))
        elif found and ":.." in line and (match := _INFO_VALUE.match(line)):
            _add_info(found[-1], match, number, line)
        elif match := _SYSFS.search(line):
            asked = match
        elif asked and re.match(r"\d: [A-Z]", line):
            _add_sysfs(found, asked, number, line)
            asked = None
        elif match := _STATUS.match(line):
            adapter, traits = match["adapter"], {}
            found.append(Port(adapter, match["port"]))
        elif match := _RDMA_LINK.match(line):
            found.append(_of_rdma_link(match, number, raw.strip()))
        elif match := _ROW.search(line):
            found.append(_of_row(match, number, raw.strip()))
        elif "==>" in line and (match := _NETDEV.search(line)):
            found.append(_of_netdev(match, number, raw.strip()))
        elif (adapter or _BARE_PORT.match(line)) and len(line) < 40 and (match := _PORT.search(line)):
            found.append(Port(adapter, match["port"], dict(traits)))
        elif (adapter or found) and (match := _VALUE.search(line)):
            key = match["key"].lower().replace(" ", "_")
            key = _KEYS.get(key, key)
            if not found or found[-1].adapter != adapter:
                traits[key] = match["value"]
            else:
                found[-1].values[key] = match["value"]
                found[-1].lines[key] = (number, raw.strip())
    return found


def ports_of_json(document: JsonText) -> list[Port]:
    found = []
    for row in document.value:
        if isinstance(row, dict) and "ifname" in row and "state" in row:
            line = document.locate("ifname", value=f'"{row["ifname"]}"')
            values = {key: str(value) for key, value in row.items()}
            _tell_layer(values)
            found.append(
                Port(
                    str(row["ifname"]), str(row.get("port", 1)), values, dict.fromkeys(values, (line.number, line.text))
                )
            )
    return found


def _add_info(port: Port, match: re.Match[str], number: int, line: str) -> None:
    key = _INFO_KEYS[match["key"]]
    if key == "state" and match["value"] == "Down" and int(port.port) > _MOST_ADAPTER_PORTS:
        return
    port.values[key], port.lines[key] = match["value"], (number, line)


def _add_sysfs(found: list[Port], asked: re.Match[str], number: int, line: str) -> None:
    if not found or found[-1].adapter != asked["adapter"]:
        found.append(Port(asked["adapter"], asked["port"], {"link_layer": "InfiniBand"}))
    key = _KEYS.get(asked["key"], asked["key"])
    found[-1].values[key], found[-1].lines[key] = line, (number, line)


def empty_device_tables(text: str) -> list[tuple[int, str]]:
    """The headings of `ibv_devices` that no device stands below."""
    rows = [raw.strip() for raw in text.splitlines()]
    heads = [
        at
        for at, row in enumerate(rows[:-1])
        if row.startswith("device") and _DEVICES.match(row) and _RULES.match(rows[at + 1])
    ]
    return [(at + 1, rows[at]) for at in heads if not any(map(_DEVICE.match, rows[at + 2 : at + 4]))]


def _of_rdma_link(match: re.Match[str], number: int, raw: str) -> Port:
    words = match["rest"].split()
    values = dict(zip(words[::2], words[1::2], strict=False))
    _tell_layer(values)
    return Port(match["adapter"], match["port"], values, dict.fromkeys(values, (number, raw)))


def _tell_layer(values: dict[str, str]) -> None:
    """Only an InfiniBand port has an address of its fabric."""
    if "netdev" in values and "lid" not in values:
        values["link_layer"] = "Ethernet"
    elif "lid" in values:
        values["link_layer"] = "InfiniBand"


def _of_row(match: re.Match[str], number: int, raw: str) -> Port:
    values = {"state": match["state"].removeprefix("State: "), "link_layer": "InfiniBand"}
    if physical := _ROW_PHYSICAL.search(match["rest"]):
        values["physical_state"] = physical["word"] or physical.group()
    if rate := _ROW_RATE.search(match["rest"]):
        values["rate"] = rate["rate"] or rate["number"]
    return Port(match["adapter"], "1", values, dict.fromkeys(values, (number, raw)))


def _of_netdev(match: re.Match[str], number: int, raw: str) -> Port:
    """The state of the IP side is no state of the port; only `-v` prints that one too."""
    values = {"netdev": match["netdev"], "ip_state": match["ip"]}
    if match["state"]:
        values["state"] = match["state"]
    values["link_layer"] = "InfiniBand" if match["netdev"].startswith("ib") else "Ethernet"
    return Port(match["adapter"], match["port"], values, dict.fromkeys(values, (number, raw)))


def _word(text: str) -> str:
    """`4: ACTIVE`, `PORT_ACTIVE (4)` and `Active` -> `active`."""
    return re.sub(r"^\d+:\s*|\s*\(\d+\)$", "", text.strip()).lower()


TEXT_KINDS: TextKinds = (
    ("ibstat", matches(r"(?m:^.{0,60}\bCA:? '[\w.\-]+')")),
    ("ibstatus", matches(r"(?im:^.{0,60}\binfiniband device '\S+' port \d+ status)")),
    ("ibv_devinfo", matches(r"(?m:^.{0,60}\bhca_id:\s*\S+)")),
    ("rdma-link", matches(r"(?m:^(?:.{0,60}\s)?(?:link |\d+/\d+: )[\w.\-]+/\d+:? .*\bstate \S+ physical_state )")),
    ("ibstat", matches(r"(?m:\bmlx[45]_\d+\b.{0,40}(?:\b\d: (?:ACTIVE|DOWN|INIT)\b|\bState: \w+, Physical state: ))")),
    ("ibstat", matches(r"(?m:^[ \t]*State: \w+[ \t\r]*\n[ \t]*Physical state: \w+[ \t\r]*$)")),
    ("ibv_devinfo", matches(r"(?m:^[ \t]*state:[ \t]+PORT_[A-Z]+ \(\d\))")),
    ("ibportstate", matches(r"(?m:^.{0,40}# Port info: Lid \d+.{0,80} port \d+[ \t\r]*$)")),
    ("ibstat", matches(r"/sys/class/infiniband/[\w.\-]+/ports/\d+/(?:phys_)?state\b")),
    ("ibv_devices", matches(r"(?m:^[ \t]*device[ \t]+node GUID[ \t\r]*\n[ \t]*-+[ \t]+-+[ \t\r]*$)")),
    ("ibdev2netdev", matches(r"(?m:\bport \d+(?: \(\w+ *\))? ==> \S+ \(\w+\))")),
)


def _is_rdma_link(value: object) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and {"ifname", "port", "physical_state"} <= first.keys()


JSON_KINDS: JsonKinds = (("rdma-link-json", _is_rdma_link),)
