"""The facts as data: signatures, chains, thresholds. Read once, checked when read."""

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Literal

from diagnostics.engine.types import Confidence, Role
from incidents.domain import faults, pci

Origin = Literal["kernel", "any"]


@dataclass(frozen=True, slots=True)
class Storm:
    """Seen `at` times (or with such a stated number) a sign means another `fault`, or, without one, only then its own."""

    at: int
    fault: str | None = None


@dataclass(frozen=True)
class Signature:
    """How one fault prints itself.

    `literals`: one of them stands in every such line. `origin` kernel: the message must begin with the pattern and must not come
    from another program. `role` clear: takes back what `clears` names; hint: a root where nothing of its family says it better. Named
    groups of the pattern name the component; the group `about` names the node, where one machine tells of another. `below` finds the
    component in one of the two lines below. `by_unit`: the group `unit` names a systemd unit, and what its failure means decides which
    fault it is (units.toml).
    """

    id: str
    fault: str
    literals: tuple[str, ...]
    expression: str
    role: Role | Literal["clear"]
    origin: Origin
    component: str | None
    look_back: int
    clears: tuple[str, ...]
    storm: Storm | None
    severity: str | None
    confidence: Confidence | None
    action: str | None
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    subject: str
    below: re.Pattern[str] | None = None
    by_unit: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first asked for: a log shows few of the signatures."""
        return re.compile(self.expression)

    @property
    def family(self) -> str:
        return faults.family_of(self.fault)


@dataclass(frozen=True, slots=True)
class Chain:
    """What follows from what: `folds` at the same `scope`, up to `window_s` seconds after (`before_s` before), belong to `roots`.

    `least`: only if so many follow. `across_boots`: also where no clock tells the time between them and they lie in different boots.
    """

    roots: tuple[str, ...]
    folds: tuple[str, ...]
    scope: Literal["component", "node"]
    window_s: float
    before_s: float
    across_boots: bool
    least: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """`faults` at one part that hit at least so many different `subjects` (processes) mean more than one of them does."""

    faults: tuple[str, ...]
    subjects: int
    detail: str
    detail_zh: str
    action: str
    action_zh: str


@dataclass(frozen=True, slots=True)
class Together:
    """One of the `faults`, shown by lines like `pattern`, on so many `nodes` within `window_s` seconds is what it `becomes`."""

    faults: tuple[str, ...]
    pattern: re.Pattern[str]
    becomes: str
    nodes: int
    window_s: float


@dataclass(frozen=True, slots=True)
class XidRule:
    """A rest of the line that changes what an Xid means."""

    numbers: tuple[int, ...]
    pattern: re.Pattern[str] | None
    fault: str | None
    role: Role | None


@lru_cache(maxsize=1)
def signatures() -> tuple[Signature, ...]:
    folder = resources.files(__package__).joinpath("signatures")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    found: list[Signature] = []
    for name in names:
        rows = table(f"signatures/{name}")["signature"]
        found += [_signature(row, subject=name.removesuffix(".toml")) for row in rows]
    return tuple(found)


@lru_cache(maxsize=1)
def chains() -> tuple[Chain, ...]:
    return tuple(
        Chain(
            tuple(row["roots"]),
            tuple(row["folds"]),
            row.get("scope", "node"),
            float(row["window_s"]),
            float(row.get("before_s", 60)),
            bool(row.get("across_boots", False)),
            int(row.get("least", 1)),
        )
        for row in table("chains.toml")["chain"]
    )


@lru_cache(maxsize=1)
def repeats() -> tuple[Repeat, ...]:
    return tuple(Repeat(tuple(row.pop("faults")), **row) for row in table("repeats.toml")["repeat"])


@lru_cache(maxsize=1)
def together() -> tuple[Together, ...]:
    return tuple(
        Together(tuple(row["faults"]), re.compile(row["pattern"]), row["becomes"], row["nodes"], float(row["window_s"]))
        for row in table("together.toml")["together"]
    )


@lru_cache(maxsize=1)
def xid_rules() -> tuple[XidRule, ...]:
    return tuple(
        XidRule(
            tuple(row["numbers"]),
            re.compile(row["pattern"]) if "pattern" in row else None,
            row.get("fault"),
            row.get("role"),
        )
        for row in table("xids.toml")["rule"]
    )


@lru_cache(maxsize=1)
def thresholds() -> dict[str, Any]:
    return table("thresholds.toml")


def _signature(row: dict[str, Any], *, subject: str) -> Signature:
    storm = row.get("storm")
    origin: Origin = row.get("origin", "kernel")
    faults.get(row["fault"])
    return Signature(
        id=row["id"],
        fault=row["fault"],
        literals=tuple(row["literals"]),
        expression=row["pattern"],
        role=row.get("role", "root"),
        origin=origin,
        component=row.get("component"),
        look_back=row.get("look_back", 0),
        clears=tuple(row.get("clears", ())),
        storm=Storm(storm["at"], storm.get("fault")) if storm else None,
        severity=row.get("severity"),
        confidence=row.get("confidence"),
        action=row.get("action"),
        positive=tuple(row["positive"]),
        negative=tuple(row["negative"]),
        subject=subject,
        below=re.compile(row["below"]) if "below" in row else None,
        by_unit=bool(row.get("by_unit", False)),
    )


def table(name: str) -> dict[str, Any]:
    """One file of the catalogue; `{pci}` in it stands for the pattern of a PCI address."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text.replace("{pci}", pci.ADDRESS))
