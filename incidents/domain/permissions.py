"""Who may do what: a matrix of roles and verbs, and scopes of teams and clusters (data; every action asks it)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    VIEWER = "viewer"
    RESPONDER = "responder"
    AUTHOR = "author"
    APPROVER = "approver"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"
    SERVICE = "service"


RESPONDING = frozenset({Role.RESPONDER, Role.OPERATOR, Role.ADMINISTRATOR})
EVERYONE = frozenset(Role)

MATRIX: dict[str, frozenset[Role]] = {
    "view": EVERYONE,
    "incident.open": RESPONDING | {Role.SERVICE},
    "incident.acknowledge": RESPONDING,
    "incident.note": EVERYONE - {Role.VIEWER},
    "incident.assign": RESPONDING,
    "incident.move": RESPONDING,
    "incident.reclassify": RESPONDING,
    "incident.close": RESPONDING,
    "incident.merge": RESPONDING,
    "incident.edit_clock": RESPONDING,
    "postmortem.write": RESPONDING | {Role.AUTHOR},
    "node.drain": RESPONDING,
    "node.edit": frozenset({Role.OPERATOR, Role.ADMINISTRATOR}),
    "node.power": frozenset({Role.OPERATOR, Role.ADMINISTRATOR}),
    "run.start": RESPONDING | {Role.SERVICE},
    "evidence.add": RESPONDING | {Role.SERVICE},
    "evidence.purge": frozenset({Role.ADMINISTRATOR}),
    "finding.confirm": RESPONDING,
    "checklist.work": RESPONDING,
    "sop.write": frozenset({Role.AUTHOR, Role.APPROVER, Role.ADMINISTRATOR}),
    "sop.publish": frozenset({Role.APPROVER, Role.ADMINISTRATOR}),
    "delivery.replay": RESPONDING,
    "source.manage": frozenset({Role.ADMINISTRATOR}),
    "people.manage": frozenset({Role.ADMINISTRATOR}),
    "token.manage": frozenset({Role.ADMINISTRATOR}),
}


@dataclass(frozen=True)
class Grant:
    """A role that somebody holds; an empty scope means everywhere."""

    role: Role
    teams: frozenset[int] = frozenset()
    clusters: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Scope:
    """Where something is: the ids of its team and cluster, None where it has none."""

    team: int | None = None
    cluster: int | None = None


def covers(grant: Grant, scope: Scope) -> bool:
    """True if the grant reaches there. A grant bound to a team or cluster does not reach what belongs to none."""
    return (not grant.teams or scope.team in grant.teams) and (not grant.clusters or scope.cluster in grant.clusters)


def allows(grants: Iterable[Grant], verb: str, scope: Scope = Scope()) -> bool:
    """True if one of the grants allows the verb there; an unknown verb is a KeyError, so that a typing error never allows."""
    roles = MATRIX[verb]
    return any(grant.role in roles and covers(grant, scope) for grant in grants)
