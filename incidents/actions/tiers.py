"""How grave an incident is, and who or what says so."""

from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from incidents import queries
from incidents.actions import journal
from incidents.actions.held import locked
from incidents.actions.rights import Actor, require
from incidents.domain import faults, severity
from incidents.lib.errors import Invalid
from incidents.models import Incident, Node, User

BY_PERSON = "chosen by a person"
TOGETHER = timedelta(minutes=10)  # nodes that fall ill within it count as hit by one thing


def set_severity(incident: Incident, *, tier: str, reason: str, by: User, at: datetime) -> None:
    require(by, "incident.reclassify", incident)
    if tier not in set(severity.Tier):
        raise Invalid(_("Choose one of SEV1, SEV2, SEV3, SEV4."))
    if not reason.strip():
        raise Invalid(_("Say why the severity changes."))
    with locked(incident) as row:
        change(row, severity.Tier(tier), rule=BY_PERSON, by=by, at=at, text=reason)


def choose(fault: faults.Fault, *, node: Node | None, environment: str, at: datetime) -> severity.Choice:
    """The tier that the table gives, the site's rows first."""
    nodes = queries.nodes_hit_together(node, fault.family, since=at - TOGETHER)
    case = severity.Circumstances(fault.code, fault.severity, environment, nodes)
    return severity.choose(case, queries.severity_rules())


def rise(incident: Incident, fault_code: str, *, by: Actor, at: datetime) -> None:
    """Another fault showed: lift the tier if the table says so. What a person chose stays."""
    require(by, "incident.reclassify", incident)
    with locked(incident) as row:
        lift(row, faults.get(fault_code), by=by, at=at)


def lift(row: Incident, fault: faults.Fault, *, by: Actor, at: datetime) -> None:
    """As `rise`, on a row that the caller holds and saves."""
    if row.severity_rule == BY_PERSON:
        return
    environment = row.cluster.environment if row.cluster else ""
    choice = choose(fault, node=row.node, environment=environment, at=at)
    tier = severity.graver(row.severity, choice.tier)
    change(row, tier, rule=f"{fault.code}: {choice.rule}"[:120], by=by, at=at)


def change(row: Incident, tier: severity.Tier, *, rule: str, by: Actor, at: datetime, text: str = "") -> None:
    if row.severity == tier:
        return
    journal.note(row, "severity", by=by, at=at, text=text, before=row.severity, after=tier, rule=rule)
    row.severity, row.severity_rule = tier, rule
    row.peak_severity = severity.graver(row.peak_severity, tier)
