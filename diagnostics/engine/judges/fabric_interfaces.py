"""Network interfaces that carry RDMA, as ethtool and ip show them. A port that nobody uses is down for good and no fault."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.catalog import fabric
from diagnostics.engine.parsers import bonding, ethtool
from diagnostics.engine.parsers.ethtool import Interface, IpLink
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Confidence, EvidenceLine, Observation, Role

_PORT_NAME = re.compile(r"^en\w*?(?P<form>(?P<function>f\d+)?np\d+)$")
_ALARM = re.compile(r"(?i)\b(?P<level>alarm|warning)\b")


def _limits() -> dict[str, Any]:
    limits: dict[str, Any] = catalog.thresholds()["fabric"]
    return limits


def settings(log: Log, *, source_name: str) -> list[Observation]:
    found = ethtool.interfaces(log.text)
    usual = _usual_speed(found)
    return [
        one
        for port in found
        for one in (*_link(port, source_name, alone=len(found) == 1), *_speed(port, usual, source_name))
    ]


def _say(
    fault: str,
    name: str,
    line: EvidenceLine,
    source_name: str,
    *,
    role: Role = "root",
    confidence: Confidence = "medium",
    detail: str = "",
) -> Observation:
    return Observation(
        fault,
        line,
        source_name,
        role=role,
        component=name or None,
        confidence=confidence,
        detail=detail,
        order=line.number,
    )


def _link(port: Interface, source_name: str, *, alone: bool) -> Iterator[Observation]:
    """Of all interfaces of a node some are free; who looks at one alone misses its link."""
    state = port.values.get("Link detected", "")
    if not state.startswith("no"):
        return
    why, line = fabric.reason(state.partition("(")[2]), port.lines["Link detected"]
    if why and why.fault and why.role == "root" and "unplugged" not in state and "partner" not in state:
        yield _say(why.fault, port.name, line, source_name, detail=state)
    else:
        role: Role = "root" if alone and "Speed" in port.values else "note"
        yield _say("fabric.link_down", port.name, line, source_name, role=role, detail=state)


def _speed(port: Interface, usual: tuple[int, int] | None, source_name: str) -> Iterator[Observation]:
    speed, best = port.speed, port.modes.get("Supported link modes", 0)
    if not speed or not port.values.get("Link detected", "").startswith("yes"):
        return
    agreed = min(port.modes.get("Advertised link modes", 0), port.modes.get("Link partner advertised link modes", 0))
    only_faster = speed < port.modes.get("slowest Advertised link modes", 0)
    slower = usual is not None and best == usual[0] and speed < usual[1]
    if slower or only_faster or (agreed > speed and agreed >= 25_000):
        yield _say("fabric.rate_degraded", port.name, port.lines["Speed"], source_name, detail=f"{speed} Mb/s")
    elif best >= 200_000 and speed <= 10_000:
        yield _say(
            "fabric.rate_degraded", port.name, port.lines["Speed"], source_name, detail=f"{speed} of {best} Mb/s"
        )


def _usual_speed(found: Sequence[Interface]) -> tuple[int, int] | None:
    """(fastest mode, speed) of most fast ports that are up."""
    speeds = Counter(
        (port.modes.get("Supported link modes", 0), port.speed) for port in found if port.speed and port.speed >= 25_000
    )
    if not speeds:
        return None
    (best, speed), count = speeds.most_common(1)[0]
    return (best, speed or 0) if count >= _limits()["interface_sisters"] and count * 2 > speeds.total() else None


def modules(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for module in ethtool.modules(log.text):
        for key, value in module.values.items():
            match = _ALARM.search(key)
            if match and value == "On" and "threshold" not in key:
                role: Role = "root" if match["level"].lower() == "alarm" else "note"
                found.append(
                    _say("fabric.module_fault", module.name, module.lines[key], source_name, role=role, detail=key)
                )
        found += _hot(module, source_name)
    return found


def _hot(module: Interface, source_name: str) -> Iterator[Observation]:
    now, limit = (
        re.match(r"-?\d+(?:\.\d+)?", module.values.get(key, ""))
        for key in ("Module temperature", "Module temperature high alarm threshold")
    )
    if now and limit and 0 < float(limit.group()) < float(now.group()):
        yield _say("fabric.module_fault", module.name, module.lines["Module temperature"], source_name)


def links(log: Log, *, source_name: str) -> list[Observation]:
    return _missing_carriers(ethtool.ip_links(log.text), source_name)


def bonds(log: Log, *, source_name: str) -> list[Observation]:
    """Who put an interface into a bond means it to be up."""
    return [
        _say("fabric.link_down", member.name, member.line, source_name)
        for member in bonding.members(log.text)
        if member.status == "down"
    ]


def links_of_json(document: JsonText, *, source_name: str) -> list[Observation]:
    return _missing_carriers(ethtool.ip_links_of_json(document), source_name)


def _missing_carriers(found: Sequence[IpLink], source_name: str) -> list[Observation]:
    jumbo = [
        link
        for link in found
        if link.mtu >= _limits()["jumbo_bytes"] and not link.infiniband and "LOOPBACK" not in link.flags
    ]
    up = sum("LOWER_UP" in link.flags for link in jumbo)
    cut_off = not any("LOWER_UP" in link.flags for link in found if _is_physical(link))
    return [
        _say("fabric.link_down", link.name, link.line, source_name)
        for link in found
        if {"NO-CARRIER", "UP"} <= link.flags
        and (
            link.infiniband
            or (cut_off and _is_physical(link))
            or _is_missed(link, jumbo, up)
            or _is_missed_by_kin(link, found)
        )
    ]


def _is_physical(link: IpLink) -> bool:
    return "LOOPBACK" not in link.flags and not link.name.startswith((*VIRTUAL, "wl", "usb", "lo", "sit", "enx"))


def _is_missed_by_kin(link: IpLink, found: Sequence[IpLink]) -> bool:
    """Where no MTU tells what an interface is for: one of few without carrier among ports of adapters with one form of name."""
    form = _PORT_NAME.search(link.name)
    if link.mtu or not form:
        return False
    kin = [other for other in found if (one := _PORT_NAME.search(other.name)) and one["form"] == form["form"]]
    up = sum("LOWER_UP" in other.flags for other in kin)
    return up >= _limits()["interface_sisters"] - (0 if form["function"] else 1) and (len(kin) - up) * 3 <= len(kin)


def _is_missed(link: IpLink, jumbo: Sequence[IpLink], up: int) -> bool:
    """One of few without carrier among interfaces that are set up for RoCE."""
    return (
        link in jumbo
        and up >= _limits()["interface_sisters"]
        and (len(jumbo) - up) * 3 <= len(jumbo)
        and not link.name.startswith(VIRTUAL)
    )


VIRTUAL = ("docker", "br-", "virbr", "veth", "cni", "flannel", "cali", "vxlan", "tun", "tap", "dummy", "bond")
