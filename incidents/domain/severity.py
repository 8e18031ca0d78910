"""Which tier an incident gets: the first rule that fits decides, else the fault's own tier."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase


class Tier(StrEnum):
    SEV1 = "SEV1"
    SEV2 = "SEV2"
    SEV3 = "SEV3"
    SEV4 = "SEV4"


@dataclass(frozen=True)
class Targets:
    """The times that a tier promises, counted from the declaration of the incident."""

    acknowledge: timedelta
    mitigate: timedelta
    restore: timedelta


TARGETS = {
    Tier.SEV1: Targets(timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=2)),
    Tier.SEV2: Targets(timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=4)),
    Tier.SEV3: Targets(timedelta(minutes=30), timedelta(hours=4), timedelta(hours=24)),
    Tier.SEV4: Targets(timedelta(hours=8), timedelta(hours=24), timedelta(days=7)),
}
NEEDS_POSTMORTEM = frozenset({Tier.SEV1, Tier.SEV2})


@dataclass(frozen=True)
class Rule:
    """One row of the table. `fault` and `environment` are patterns as in file names; `nodes` is the least number of nodes hit.

    A cap makes nothing graver: it only says how grave it may be at most.
    """

    name: str
    tier: Tier
    fault: str = "*"
    environment: str = "*"
    nodes: int = 1
    is_cap: bool = False


@dataclass(frozen=True)
class Circumstances:
    """What the rules look at: the fault code and its own tier, the environment of the cluster, how many nodes are hit."""

    fault: str
    fault_tier: str
    environment: str = "production"
    nodes: int = 1


@dataclass(frozen=True)
class Choice:
    tier: Tier
    rule: str


DEFAULT_RULES = (
    Rule("one fault on several nodes of production", Tier.SEV1, environment="production", nodes=3),
    Rule("test and staging clusters are never above SEV3", Tier.SEV3, environment="test*", is_cap=True),
    Rule("test and staging clusters are never above SEV3", Tier.SEV3, environment="staging*", is_cap=True),
)
BY_FAULT = "the fault's own tier"


def fits(rule: Rule, case: Circumstances) -> bool:
    return (
        case.nodes >= rule.nodes
        and fnmatchcase(case.fault, rule.fault)
        and fnmatchcase(case.environment.lower(), rule.environment.lower())
    )


def choose(case: Circumstances, rules: Iterable[Rule] = DEFAULT_RULES) -> Choice:
    """The tier of the first rule that fits and the rule's name. A "never above" rule never makes a fault graver than it is."""
    own = Tier(case.fault_tier)
    for rule in rules:
        if fits(rule, case) and not (rule.is_cap and graver(own, rule.tier) == rule.tier):
            return Choice(rule.tier, rule.name)
    return Choice(own, BY_FAULT)


def graver(one: str, other: str) -> Tier:
    """The graver of two tiers: SEV1 is the gravest."""
    return min(Tier(one), Tier(other))
