"""What others than NVIDIA do with an Xid, where they differ (xids.toml, `verdicts`)."""

import tomllib
from functools import lru_cache
from importlib import resources


def other_verdicts(number: int) -> dict[str, str]:
    return dict(_verdicts().get(str(number), {}))


@lru_cache(maxsize=1)
def _verdicts() -> dict[str, dict[str, str]]:
    with resources.files(__package__).joinpath("xids.toml").open("rb") as file:
        found: dict[str, dict[str, str]] = tomllib.load(file)["verdicts"]
    return found
