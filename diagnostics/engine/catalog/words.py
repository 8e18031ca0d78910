"""What few words of a rule or a person mean: words.toml."""

import re
from functools import lru_cache

from diagnostics.engine import catalog
from incidents.domain import faults


def fault_of(text: str) -> str | None:
    return next((fault for pattern, fault in _words() if pattern.search(text)), None)


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = catalog.table("words.toml")["words"]
    return tuple((re.compile(row["pattern"]), faults.get(row["fault"]).code) for row in rows)
