"""What the failure of a systemd unit means: units.toml."""

import re
from functools import lru_cache

from diagnostics.engine import catalog
from incidents.domain import faults


def fault_of(unit: str) -> str | None:
    return next((fault for pattern, fault in _units() if pattern.fullmatch(unit)), None)


@lru_cache(maxsize=1)
def _units() -> tuple[tuple[re.Pattern[str], str | None], ...]:
    rows = catalog.table("units.toml")["unit"]
    return tuple(
        (re.compile(row["pattern"]), faults.get(row["fault"]).code if "fault" in row else None) for row in rows
    )
