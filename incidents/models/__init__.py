from incidents.models.alerts import Alert, Delivery, FaultMatcher, Source
from incidents.models.appendonly import AppendOnly, AppendOnlyQuerySet, HistoryIsFixed
from incidents.models.audit import AuditEntry
from incidents.models.events import DueRow, Event, Heartbeat, Reaction
from incidents.models.fleet import Cluster, Job, JobAttempt, LifeCycle, LifeCycleChange, Node, Part, PartKind, Rack
from incidents.models.incident import (
    CLOCKS,
    DISPOSITIONS,
    STATES,
    TIERS,
    Incident,
    IncidentPart,
    SeverityRuleRow,
    TimelineEntry,
    Verification,
    Waiting,
)
from incidents.models.people import ApiToken, Membership, RoleGrant, SignInLink, Team, User
from incidents.models.postmortems import PostMortem

__all__ = [
    "CLOCKS",
    "DISPOSITIONS",
    "STATES",
    "TIERS",
    "Alert",
    "ApiToken",
    "AppendOnly",
    "AppendOnlyQuerySet",
    "AuditEntry",
    "Cluster",
    "Delivery",
    "DueRow",
    "Event",
    "FaultMatcher",
    "Heartbeat",
    "HistoryIsFixed",
    "Incident",
    "IncidentPart",
    "Job",
    "JobAttempt",
    "LifeCycle",
    "LifeCycleChange",
    "Membership",
    "Node",
    "Part",
    "PartKind",
    "PostMortem",
    "Rack",
    "Reaction",
    "RoleGrant",
    "SeverityRuleRow",
    "SignInLink",
    "Source",
    "Team",
    "TimelineEntry",
    "User",
    "Verification",
    "Waiting",
]
