"""What a setting that differs, or a check that fails, means by its name: settings.toml."""

import re
from functools import lru_cache

from diagnostics.engine import catalog
from incidents.domain import faults


def of_setting(name: str) -> str | None:
    return next((fault for pattern, fault in _table("setting") if pattern.search(name)), None)


def of_check(name: str) -> str | None:
    return next((fault for pattern, fault in _table("check") if pattern.search(name)), None) or of_setting(name)


@lru_cache(maxsize=2)
def _table(kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = catalog.table("settings.toml")[kind]
    return tuple((re.compile(row["pattern"]), faults.get(row["fault"]).code) for row in rows)
