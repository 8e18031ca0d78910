"""Nodes that Slurm does not use, by the words of its reason (catalog/slurm.toml)."""

import re
from functools import lru_cache

from diagnostics.engine import catalog
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import slurm
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation
from incidents.domain import faults


def nodes(log: Log, *, source_name: str) -> list[Observation]:
    return [
        Observation(
            fault, one.line, source_name, node=one.node, confidence="medium", detail=one.reason, order=one.line.number,
            signature="slurm-reason",
        )
        for one in slurm.reasons(log.text)
        if (fault := _fault_of(one.reason))
    ]  # fmt: skip


def _fault_of(reason: str) -> str | None:
    return next((fault for pattern, fault in _table() if pattern.search(reason)), None)


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = catalog._table("slurm.toml")["reason"]
    return tuple((re.compile(row["pattern"]), faults.get(row["fault"]).code) for row in rows)


FORMATS = {
    "slurm-nodes": Format(
        "Slurm's nodes",
        (nodes,),
        of(),
        unread="a scheduler's reasons: only those that are known were read",
    )
}
