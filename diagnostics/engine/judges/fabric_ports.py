"""RDMA ports: which are down, wait for the subnet manager, or run slower than their sisters."""

from collections import Counter
from collections.abc import Sequence

from diagnostics.engine import catalog
from diagnostics.engine.catalog import fabric, profiles
from diagnostics.engine.parsers import infiniband
from diagnostics.engine.parsers.infiniband import Port
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Confidence, EvidenceLine, Observation, Role

_WELL = ("active", "armed", "init", "active_defer")


def ports(log: Log, *, source_name: str) -> list[Observation]:
    found = infiniband.ports(log.text)
    return judge(found, source_name)


def devices(log: Log, *, source_name: str) -> list[Observation]:
    """Who asks for the list of RDMA devices expects some."""
    return [
        Observation("fabric.device_missing", EvidenceLine(number, raw), source_name, confidence="medium", order=number)
        for number, raw in infiniband.empty_device_tables(log.text)
    ]


def ports_of_json(document: JsonText, *, source_name: str) -> list[Observation]:
    return judge(infiniband.ports_of_json(document), source_name)


def judge(found: Sequence[Port], source_name: str) -> list[Observation]:
    usual, kin = _usual_rate(found), _missed_ethernet(found)
    seen = [_judge(port, usual, port.adapter in kin, source_name) for port in found]
    return [one for one in seen if one]


def _judge(port: Port, usual: tuple[float, str] | None, missed: bool, source_name: str) -> Observation | None:
    state, physical = port.state, port.physical
    if port.values.get("ip_state", "").lower() == "down" and not state:
        return _say("fabric.link_down", port, "ip_state", source_name, confidence="medium") if missed else None
    if state and state not in _WELL:
        key = "physical_state" if physical and physical != "linkup" and "physical_state" in port.lines else "state"
        if port.is_ethernet:  # nobody may be meant to use it; an InfiniBand port has no other use than the fabric
            role: Role = "root" if missed else "note"
            return _say("fabric.link_down", port, key, source_name, role=role, confidence="medium")
        return _say("fabric.link_down", port, key, source_name)
    if state == "init" and physical in ("linkup", "") and not port.is_ethernet:
        return _say("fabric.subnet_manager", port, "state", source_name)
    if state == "active" and not port.is_ethernet:
        return _slow(port, usual, source_name)
    return None


def _slow(port: Port, usual: tuple[float, str] | None, source_name: str) -> Observation | None:
    key = "rate" if "rate" in port.lines else "active_width"
    if port.width == 1 and key in port.lines:
        return _say("fabric.rate_degraded", port, key, source_name, detail="one lane of four")
    rate = port.rate
    if not rate or "rate" not in port.lines:
        return None
    if usual and rate < usual[0] and port.values.get("ca_type", "") in ("", usual[1]):
        detail = f"{rate:g} Gb/s, its sisters {usual[0]:g}"
        return _say("fabric.rate_degraded", port, "rate", source_name, detail=detail)
    if (wanted := profiles.current().ib_rate_gb_s) and rate < wanted:
        return _say("fabric.rate_degraded", port, "rate", source_name, detail=f"{rate:g} of {wanted:g} Gb/s")
    best = fabric.table()["adapter_rate"].get(port.values.get("ca_type", "").split(" ")[0])
    if best and rate < best * catalog.thresholds()["fabric"]["adapter_rate_share"]:
        detail = f"{rate:g} Gb/s, the adapter can do {best}"
        return _say("fabric.rate_degraded", port, "rate", source_name, detail=detail, confidence="medium")
    return None


def _say(
    fault: str,
    port: Port,
    key: str,
    source_name: str,
    *,
    role: Role = "root",
    confidence: Confidence = "high",
    detail: str = "",
) -> Observation:
    number, raw = port.lines[key]
    return Observation(
        fault, EvidenceLine(number, raw), source_name, role=role, component=port.adapter or None, confidence=confidence,
        detail=detail, order=number,
    )  # fmt: skip


def _usual_rate(found: Sequence[Port]) -> tuple[float, str] | None:
    """The rate (and the kind of adapter) of most active InfiniBand ports; two or more must agree and be the majority."""
    rates = Counter(
        (rate, port.values.get("ca_type", ""))
        for port in found
        if port.state == "active" and not port.is_ethernet and (rate := port.rate)
    )
    if not rates:
        return None
    usual, count = rates.most_common(1)[0]
    return usual if count >= 2 and count * 2 > rates.total() else None


def _missed_ethernet(found: Sequence[Port]) -> frozenset[str]:
    """The Ethernet ports that are down where no port is InfiniBand and most others of the same kind of adapter are up."""
    if any(not port.is_ethernet for port in found):
        return frozenset()
    kinds: dict[str, list[Port]] = {}
    for port in found:
        kinds.setdefault(port.values.get("ca_type", ""), []).append(port)
    missed: set[str] = set()
    limits = catalog.thresholds()["fabric"]
    for kin in kinds.values():
        down = [port.adapter for port in kin if not _is_up(port)]
        fast = all((port.rate or limits["ethernet_gb_s"]) >= limits["ethernet_gb_s"] for port in kin if _is_up(port))
        if len(kin) >= limits["ethernet_sisters"] and len(down) * 4 <= len(kin) and fast:
            missed |= set(down)
    return frozenset(missed)


def _is_up(port: Port) -> bool:
    return port.state == "active" if port.state else port.values.get("ip_state", "").lower() == "up"
