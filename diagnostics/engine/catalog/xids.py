"""What others than NVIDIA do with an Xid, where they differ (xids.toml, `verdicts`)."""

from functools import lru_cache

from diagnostics.engine import catalog


def other_verdicts(number: int) -> dict[str, str]:
    return dict(_verdicts().get(str(number), {}))


@lru_cache(maxsize=1)
def _verdicts() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = catalog.table("xids.toml")["verdicts"]
    return found
