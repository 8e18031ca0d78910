"""Nodes that Slurm does not use, by the words of its reason (catalog/slurm.toml, then words.toml)."""

import re
from functools import lru_cache

from diagnostics.engine import catalog
from diagnostics.engine.catalog import words
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import slurm
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation
from incidents.domain import faults

_PART = re.compile(r"\bGPU ?#?(?P<gpu>\d{1,2})\b|\b(?P<device>mlx5_\d+|nvme\d+n\d+|sd[a-z]{1,2})\b", re.IGNORECASE)


def nodes(log: Log, *, source_name: str) -> list[Observation]:
    return [
        Observation(
            fault, one.line, source_name, node=one.node, component=_part(one.reason),
            confidence="medium", detail=one.reason, order=one.line.number,
            signature="slurm-reason",
        )
        for one in slurm.reasons(log.text)
        if (fault := _fault_of(one.reason))
    ]  # fmt: skip


def _fault_of(reason: str) -> str | None:
    settled, known = _table()
    if settled.search(reason):
        return None
    return next((fault for pattern, fault in known if pattern.search(reason)), None) or words.fault_of(reason)


def _part(reason: str) -> str | None:
    match = _PART.search(reason)
    return None if not match else f"GPU {match['gpu']}" if match["gpu"] else match["device"]


@lru_cache(maxsize=1)
def _table() -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    table = catalog.table("slurm.toml")
    known = tuple((re.compile(row["pattern"]), faults.get(row["fault"]).code) for row in table["reason"])
    return re.compile(table["settled"]), known


FORMATS = {
    "slurm-nodes": Format(
        "Slurm's nodes",
        (nodes,),
        of(),
        unread="a scheduler's reasons: only those that are known were read",
    )
}
