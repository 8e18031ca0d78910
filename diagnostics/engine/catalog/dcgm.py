"""DCGM's error codes and messages (dcgm_errors.csv), each with the fault that it means here.

The rows stand in the order in which a message is compared: the narrower phrase first. No fault: the message names an Xid, which has it.
A row with a `literal`, words of the message as they are printed, is told apart in the lines of any program; one without only where
DCGM itself speaks: its words are too general, or tell of a state that passes (a link that trains).
"""

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import cast

from diagnostics.engine import catalog
from diagnostics.engine.types import Role
from incidents.domain import faults

_SPACE = re.compile(r"\s+")
_LONGEST = 4000  # characters of a text that are compared


@dataclass(frozen=True, slots=True)
class DcgmError:
    """`phrase` tells the message apart from others; None where the code has no message of its own. `literal` "": too general."""

    number: int
    name: str
    severity: str
    fault: str
    role: Role
    phrase: re.Pattern[str] | None
    literal: str


@lru_cache(maxsize=1)
def errors() -> tuple[DcgmError, ...]:
    with resources.files(__package__).joinpath("dcgm_errors.csv").open(encoding="utf-8") as file:
        return tuple(
            DcgmError(
                int(row["id"]), row["name"], row["severity"], row["fault"], cast(Role, row["role"]),
                re.compile(row["phrase"].replace(" ", "")) if row["phrase"] else None, row["literal"],
            )
            for row in csv.DictReader(file)
        )  # fmt: skip


@lru_cache(maxsize=1)
def systems() -> dict[str, str]:
    """What it means that a system of dcgmi health is unwell, by its name in small letters."""
    return {name: faults.get(fault).code for name, fault in catalog.table("dcgm.toml")["systems"].items()}


def literals() -> frozenset[str]:
    return frozenset(error.literal for error in errors() if error.literal)


@lru_cache(maxsize=1)
def by_number() -> dict[int, DcgmError]:
    return {error.number: error for error in errors()}


@lru_cache(maxsize=1)
def by_name() -> dict[str, DcgmError]:
    return {error.name: error for error in errors()}


def of_message(text: str) -> DcgmError | None:
    """Compared without blanks: the printer wraps a message in the middle of words."""
    squeezed = _SPACE.sub("", text).lower()[:_LONGEST]
    return next((error for error in errors() if error.phrase and error.phrase.search(squeezed)), None)


def in_line(text: str) -> DcgmError | None:
    """The message that stands in a line of any program."""
    candidates = [error for error in errors() if error.literal and error.literal in text]
    squeezed = _SPACE.sub("", text).lower()[:_LONGEST] if candidates else ""
    return next((error for error in candidates if error.phrase and error.phrase.search(squeezed)), None)
