"""Error counters of ports: a total that is large, or one that grows between two prints of the same text."""

from collections.abc import Iterator

from diagnostics.engine.catalog import fabric
from diagnostics.engine.catalog.fabric import CounterLimit
from diagnostics.engine.judges.fabric_interfaces import VIRTUAL
from diagnostics.engine.parsers import port_counters
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.port_counters import Counters
from diagnostics.engine.types import EvidenceLine, Observation, Role

Totals = dict[tuple[str, str], int]  # (port, counter) -> its first print


def counters(log: Log, *, source_name: str) -> list[Observation]:
    limits = fabric.counter_limits()
    first: Totals = {}
    found: list[Observation] = []
    for row in port_counters.counters(log.text):
        for name in [name for name in row.values if name in limits] if not row.who.startswith(VIRTUAL) else ():
            value = row.values[name]
            if role := _role(limits[name], value, _rise(first, row.who, name, value)):
                found.append(_say(limits[name].fault, role, f"{name} {value}", row, source_name))
    return list(_each_port_once(found))


def _rise(first: Totals, who: str, name: str, value: int) -> int:
    return value - first.setdefault((who, name), value)


def _role(limit: CounterLimit, value: int, rise: int) -> Role | None:
    if (limit.root is not None and value >= limit.root) or (limit.rise is not None and rise >= limit.rise):
        return "root"
    return "note" if value >= limit.note else None


def _say(fault: str, role: Role, detail: str, row: Counters, source_name: str) -> Observation:
    return Observation(
        fault, EvidenceLine(row.number, row.raw), source_name, role=role, component=row.who or None, confidence="medium",
        detail=detail, order=row.number,
    )  # fmt: skip


def _each_port_once(found: list[Observation]) -> Iterator[Observation]:
    """One line may hold several bad counters of one fault: the worst tells of them all."""
    best: dict[tuple[str, str | None, int], Observation] = {}
    for one in found:
        key = (one.fault, one.component, one.order)
        if key not in best or (one.role == "root" and best[key].role != "root"):
            best[key] = one
    yield from best.values()
