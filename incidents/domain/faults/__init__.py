"""The common language of all apps: what can be wrong with a node or a job, and which driver code stands for it.

The tables lie beside this file. `faults.csv` holds the faults, `xid.csv` and `sxid.csv` the numbers that NVIDIA's drivers print
(names and actions as in NVIDIA's Xid catalogue, driver 595). They are read once, at the first question.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

UNCLASSIFIED = "node.unclassified"


class UnknownFault(KeyError):
    """A code that is not in `faults.csv`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    def __str__(self) -> str:
        return f"There is no fault {self.code!r}. The known codes are in incidents/domain/faults/faults.csv."


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble. `severity` is SEV1..SEV4; `verify` is probe, job_progress, by_person or none."""

    code: str
    family: str
    title: str
    title_zh: str
    severity: str
    scope: str
    takes_node_out: bool
    verify: str
    first_action: str
    first_action_zh: str

    def title_in(self, language: str) -> str:
        return self.title_zh if language.lower().startswith("zh") else self.title

    def first_action_in(self, language: str) -> str:
        return self.first_action_zh if language.lower().startswith("zh") else self.first_action


@dataclass(frozen=True, slots=True)
class Xid:
    """A GPU error number. `immediate` and `investigatory` are NVIDIA's action words, "" if none is documented.

    `fatal` is yes, no, depends (the rest of the line decides) or unknown.
    """

    number: int
    mnemonic: str
    fault: str
    meaning: str
    immediate: str
    investigatory: str
    fatal: str


@dataclass(frozen=True, slots=True)
class Sxid:
    """An NVSwitch error number. `fatal` is always, yes, contained, depends or no.

    `basis` tells how far to trust it: "documented" by NVIDIA, or guessed from the "name" alone.
    """

    number: int
    mnemonic: str
    fault: str
    meaning: str
    action: str
    fatal: str
    basis: str


def get(code: str) -> Fault:
    """The fault of this code; raises UnknownFault."""
    try:
        return _faults()[code]
    except KeyError:
        raise UnknownFault(code) from None


def all_faults() -> tuple[Fault, ...]:
    """In the order of the table: GPU, host, system, BMC, containers, fabric, facility, jobs."""
    return tuple(_faults().values())


def family_of(code: str) -> str:
    return get(code).family


def xid(number: int) -> Xid:
    """What is known of this Xid; a number that nobody documented is `node.unclassified`, never nothing."""
    return _xids().get(number) or Xid(number, "", UNCLASSIFIED, "Not in the catalogue", "", "", "unknown")


def sxid(number: int) -> Sxid:
    """What is known of this SXid; see `xid`."""
    return _sxids().get(number) or Sxid(number, "", UNCLASSIFIED, "Not in the catalogue", "", "depends", "name")


def for_xid(number: int) -> Fault:
    return get(xid(number).fault)


def for_sxid(number: int) -> Fault:
    return get(sxid(number).fault)


def all_xids() -> tuple[Xid, ...]:
    return tuple(_xids().values())


def all_sxids() -> tuple[Sxid, ...]:
    return tuple(_sxids().values())


@lru_cache(maxsize=1)
def _faults() -> dict[str, Fault]:
    return {
        row["code"]: Fault(**(row | {"takes_node_out": row["takes_node_out"] == "yes"}))  # type: ignore[arg-type]
        for row in _rows("faults.csv")
    }


@lru_cache(maxsize=1)
def _xids() -> dict[int, Xid]:
    return {int(row["xid"]): Xid(int(row.pop("xid")), **row) for row in _rows("xid.csv")}


@lru_cache(maxsize=1)
def _sxids() -> dict[int, Sxid]:
    return {int(row["sxid"]): Sxid(int(row.pop("sxid")), **row) for row in _rows("sxid.csv")}


def _rows(name: str) -> Iterator[dict[str, str]]:
    with resources.files(__package__).joinpath(name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
