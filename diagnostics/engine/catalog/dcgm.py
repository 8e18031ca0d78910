"""DCGM's error codes and messages (dcgm_errors.csv), each with the fault that it means here.

The rows stand in the order in which a message is compared: the narrower phrase first. No fault: the message names an Xid, which has it.
"""

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import cast

from diagnostics.engine.types import Role

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class DcgmError:
    """`phrase` tells the message apart from others; None where the code has no message of its own."""

    number: int
    name: str
    severity: str
    fault: str
    role: Role
    phrase: re.Pattern[str] | None


@lru_cache(maxsize=1)
def errors() -> tuple[DcgmError, ...]:
    with resources.files(__package__).joinpath("dcgm_errors.csv").open(encoding="utf-8") as file:
        return tuple(
            DcgmError(
                int(row["id"]), row["name"], row["severity"], row["fault"], cast(Role, row["role"]),
                re.compile(row["phrase"].replace(" ", "")) if row["phrase"] else None,
            )
            for row in csv.DictReader(file)
        )  # fmt: skip


@lru_cache(maxsize=1)
def by_number() -> dict[int, DcgmError]:
    return {error.number: error for error in errors()}


@lru_cache(maxsize=1)
def by_name() -> dict[str, DcgmError]:
    return {error.name: error for error in errors()}


def of_message(text: str) -> DcgmError | None:
    """Compared without blanks: the printer wraps a message in the middle of words."""
    squeezed = _SPACE.sub("", text).lower()[:4000]
    return next((error for error in errors() if error.phrase and error.phrase.search(squeezed)), None)
