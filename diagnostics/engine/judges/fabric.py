"""InfiniBand ports and their counters."""

from collections import Counter

from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import infiniband
from diagnostics.engine.parsers.infiniband import Port
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role

# A counter tells of all the time since it was cleared, so only many count; 65535 is a 16-bit counter that is full.
MANY_ERRORS = 1_000
_ERROR_COUNTERS = ("SymbolErrorCounter", "PortRcvErrors", "LinkIntegrityErrors", "LocalLinkIntegrityErrors")


def ports(log: Log, *, source_name: str) -> list[Observation]:
    found = infiniband.ports(log.text)
    usual = _usual_rate(found)
    return [seen for port in found for seen in _judge(port, usual, source_name)]


def _judge(port: Port, usual: int | None, source_name: str) -> list[Observation]:
    state, physical = port.values.get("state", ""), port.values.get("physical_state", "")
    if state and state not in ("Active", "Initializing", "Armed", "Init"):
        key = "physical_state" if physical and physical != "LinkUp" else "state"
        # An Ethernet port that nobody uses is down for good; an InfiniBand port has no other use than the fabric.
        role: Role = "note" if port.values.get("link_layer") == "Ethernet" else "root"
        return [_say("fabric.link_down", port, key, source_name, role=role)]
    if state in ("Initializing", "Init") and physical == "LinkUp":
        return [_say("fabric.subnet_manager", port, "state", source_name)]
    rate = _rate(port)
    if rate and usual and rate < usual:
        return [_say("fabric.rate_degraded", port, "rate", source_name)]
    return []


def _say(fault: str, port: Port, key: str, source_name: str, *, role: Role = "root") -> Observation:
    number, raw = port.lines[key]
    return Observation(fault, EvidenceLine(number, raw), source_name, role=role, component=port.adapter, order=number)


def _rate(port: Port) -> int | None:
    text = port.values.get("rate", "").split(" ")[0]
    return int(text) if text.isdigit() else None


def _usual_rate(found: list[Port]) -> int | None:
    """The rate that most active InfiniBand ports of this node have; two or more must agree and be the majority."""
    rates = Counter(
        rate
        for port in found
        if port.values.get("state") == "Active"
        and port.values.get("link_layer") != "Ethernet"
        and (rate := _rate(port))
    )
    if not rates:
        return None
    rate, count = rates.most_common(1)[0]
    return rate if count >= 2 and count * 2 > rates.total() else None


def errors(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for row in infiniband.counters(log.text):
        line = EvidenceLine(row.number, row.raw)
        many = any(row.values.get(name, 0) >= MANY_ERRORS for name in _ERROR_COUNTERS)
        some = any(row.values.get(name) for name in (*_ERROR_COUNTERS, "LinkErrorRecoveryCounter", "LinkDownedCounter"))
        if many or some:
            found.append(
                Observation(
                    "fabric.symbol_errors", line, source_name, role="root" if many else "note", confidence="medium",
                    component=f"{row.guid} port {row.port}", order=row.number,
                )
            )  # fmt: skip
    return found


FORMATS = {
    "ibstat": Format("InfiniBand ports", (ports,), of("fabric.link", "fabric.adapter", "fabric.control"), has_log=True),
    "ibqueryerrors": Format("InfiniBand counters", (errors,), of("fabric.link")),
}
