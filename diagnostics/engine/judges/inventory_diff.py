"""Parts that an inventory has and a node does not show. What the lines mean is in catalog/fabric.toml (`inventory`)."""

import re
from functools import lru_cache

from diagnostics.engine import components
from diagnostics.engine.catalog import fabric
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import inventory_diff
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation


@lru_cache(maxsize=1)
def _kinds() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(row["pattern"]), row["fault"]) for row in fabric.table()["inventory"])


def gone(log: Log, *, source_name: str) -> list[Observation]:
    found = []
    for row in inventory_diff.gone(log.text):
        match, fault = next(((m, fault) for pattern, fault in _kinds() if (m := pattern.search(row.text))), (None, ""))
        if match:
            found.append(
                Observation(
                    fault, row.line, source_name, component=components.from_groups(match.groupdict()), confidence="medium",
                    order=row.line.number,
                )
            )  # fmt: skip
    return found


FORMATS = {"inventory-diff": Format("comparison of inventories", (gone,), of("fabric.adapter"), has_log=True)}
