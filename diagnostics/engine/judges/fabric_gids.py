"""RoCE adapters without the GID that the others have: their interface has no address, so nothing can be routed to them."""

from diagnostics.engine import catalog
from diagnostics.engine.parsers import gids
from diagnostics.engine.parsers.gids import Gid
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation, Role


def table(log: Log, *, source_name: str) -> list[Observation]:
    rows = gids.table(log.text)
    first: dict[str, Gid] = {}
    for row in rows:
        first.setdefault(row.adapter, row)
    routed = {row.adapter for row in rows if row.routed}
    bare = [row for adapter, row in first.items() if adapter not in routed]
    missed = len(routed) >= catalog.thresholds()["fabric"]["gid_sisters"] and len(bare) * 4 <= len(first)
    role: Role = "root" if missed else "note"
    return [
        Observation(
            "fabric.config", row.line, source_name, role=role, component=row.adapter, confidence="medium",
            detail="no GID of an address", order=row.line.number,
        )
        for row in bare
        if routed
    ]  # fmt: skip


def refusals(log: Log, *, source_name: str) -> list[Observation]:
    return [
        Observation(
            "fabric.config",
            one.line,
            source_name,
            component=one.adapter or None,
            confidence="medium",
            order=one.line.number,
        )
        for one in gids.refusals(log.text)
    ]
