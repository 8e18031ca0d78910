"""Error counters of ports. Each tool has its own spelling of the names.

GUID 0x1 port 1: [SymbolErrorCounter == 12] [...]            ibqueryerrors
# Port extended counters: Lid 4 port 1 / SymbolErrorCounter:.....12   perfquery
/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:12         grep . of sysfs; also "==> PATH <==", "symbol_error: 12"
/sys/class/net/ens1np0/carrier_changes:12                    the same of an interface
NIC statistics: / rx_symbol_err_phy: 12                      ethtool -S
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches

_ERRORS = re.compile(r"GUID (?P<guid>0x[0-9a-fA-F]+) port (?P<port>\w+):(?P<counters> *\[.*)$")
_HEADING = re.compile(r'Errors for (?:0x[0-9a-fA-F]+ )?"(?P<node>[^"]*)"')
_COUNTER = re.compile(r"\[(?P<name>\w+) == (?P<value>\d+)")
_PERFQUERY = re.compile(r"# Port (?:extended )?counters: (?P<who>.*?)(?: \(CapMask.*)?$")
_DOTS = re.compile(r"(?P<name>[A-Z]\w+):\.{2,}(?P<value>\d+)$")
_SYSFS = re.compile(
    r"(?:(?:/sys/class/infiniband/)?(?P<device>\w+)/ports/(?P<port>\d+)/(?:hw_)?counters|/class/net/(?P<netdev>[\w.\-]+)(?:/statistics)?)"
    r"/(?P<name>\w+)(?:\s*[:= ]\s*(?P<value>\d+))?(?: <==)?$"
)
_ETHTOOL = re.compile(r"ethtool\s+(?:-S|--statistics)\s+(?P<device>[\w.\-@]+)")
_PLAIN = re.compile(r"(?P<name>[a-z][\w.\[\]]*)(?: ?[:=][ \t]?|[ \t]{1,40})(?P<value>\d+)$")


@dataclass(frozen=True, slots=True)
class Counters:
    """One printed line of counters of one port."""

    who: str
    values: dict[str, int]
    number: int
    raw: str


def counters(text: str) -> list[Counters]:
    found: list[Counters] = []
    who = pending = node = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if match := _ERRORS.search(line):
            values = {one["name"]: int(one["value"]) for one in _COUNTER.finditer(match["counters"])}
            found.append(Counters(f"{match['guid']} port {match['port']}{node}", values, number, line))
        elif match := _HEADING.search(line):
            node = f" ({match['node']})" if match["node"] else ""
        elif match := _PERFQUERY.search(line):
            who = match["who"].strip()
        elif match := _ETHTOOL.search(line):
            who = match["device"]
        elif ("/ports/" in line or "/class/net/" in line) and (match := _SYSFS.search(line)):
            who, pending = match["device"] or match["netdev"], match["name"]
            if match["value"]:
                found.append(Counters(who, {pending: int(match["value"])}, number, line))
                pending = ""
        elif pending and line.isdigit():
            found.append(Counters(who, {pending: int(line)}, number, f"{pending} {line}"))
            pending = ""
        elif match := (_DOTS.search(line) if ":.." in line else _PLAIN.match(line)):
            found.append(Counters(who, {match["name"]: int(match["value"])}, number, line))
    return found


TEXT_KINDS: TextKinds = (
    ("ibqueryerrors", matches(r"(?m:^.{0,60}\bGUID 0x[0-9a-fA-F]+ port \w+: *\[|^## Summary: \d+ nodes checked, )")),
    ("perfquery", matches(r"(?m:^.{0,60}# Port (?:extended )?counters: |^.{0,40}SymbolErrorCounter:\.\.)")),
    ("port-counters", matches(r"(?m:/ports/\d+/(?:hw_)?counters/\w+)")),
    ("port-counters", matches(r"/class/net/[\w.\-]+/carrier_(?:changes|down_count)\b")),
    (
        "port-counters",
        matches(
            r"(?m:^[ \t]*(?:port_rcv_errors|symbol_error|link_downed|port_xmit_wait)(?:[ \t]*[:=][ \t]*|[ \t]+)\d+[ \t\r]*$)"
        ),
    ),
    ("ethtool-counters", matches(r"(?m:^[ \t]*NIC statistics:)")),
    ("ethtool-counters", matches(r"(?m:^[ \t]*(?:rx_symbol_err_phy|rx_out_of_buffer|rx_crc_errors_phy): \d+)")),
)
