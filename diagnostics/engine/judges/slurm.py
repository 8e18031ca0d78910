"""Nodes that Slurm does not use, by the words of its reason (catalog/slurm.toml, then words.toml)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from diagnostics.engine import catalog
from diagnostics.engine.catalog import words
from diagnostics.engine.judges import gpu_xid_reasons
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import slurm
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.slurm import Reason
from diagnostics.engine.types import Observation
from incidents.domain import faults

_PART = re.compile(r"\bGPU ?#?(?P<gpu>\d{1,2})\b|\b(?P<device>mlx5_\d+|nvme\d+n\d+|sd[a-z]{1,2})\b", re.IGNORECASE)


def nodes(log: Log, *, source_name: str) -> list[Observation]:
    return [seen for one in slurm.reasons(log.text) for seen in _of(one, source_name)]


def _of(one: Reason, source_name: str) -> Iterator[Observation]:
    """The Xids that the reason names, else what its words mean."""
    settled, known = _table()
    if settled.search(one.reason.split("NVRM: ")[0]):  # the driver's own words settle nothing
        return
    seen = Observation(
        "", one.line, source_name, node=one.node, component=_part(one.reason), confidence="medium", detail=one.reason,
        order=one.line.number, signature="slurm-reason",
    )  # fmt: skip
    xids = gpu_xid_reasons.named(one.reason)
    for means, component in xids:
        yield replace(seen, fault=means.fault, component=component or seen.component, **means.fields())
    fault = next((fault for pattern, fault in known if pattern.search(one.reason)), None) or words.fault_of(one.reason)
    if fault and not xids:
        yield replace(seen, fault=fault)


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
