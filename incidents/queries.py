"""What there is to read: querysets and frozen facts. The rights of the reader are part of the query."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, When
from django.utils.translation import gettext as _

from incidents.domain import faults, severity, statistics, workflow
from incidents.domain.permissions import MATRIX, Grant
from incidents.extension_points import ClosureAnswer, closure_checks
from incidents.models import (
    Alert,
    Delivery,
    FaultMatcher,
    Heartbeat,
    Incident,
    Node,
    Reaction,
    SeverityRuleRow,
    Source,
    TimelineEntry,
    User,
)


def _reach(grants: Iterable[Grant]) -> Q:
    """The rows that the grants reach for viewing, for models with a team and a cluster."""
    reach = Q(pk__in=[])
    for grant in grants:
        if grant.role in MATRIX["view"]:
            reach |= (Q(team__in=grant.teams) if grant.teams else Q()) & (
                Q(cluster__in=grant.clusters) if grant.clusters else Q(pk__isnull=False)
            )
    return reach


def incidents_for(user: User) -> QuerySet[Incident]:
    """The incidents that the user may see, with what a row of a list shows."""
    return Incident.objects.filter(_reach(user.grants())).select_related(
        "node", "rack", "job", "assignee", "cluster", "merged_into", "recurrence_of"
    )


def nodes_for(user: User) -> QuerySet[Node]:
    return Node.objects.filter(_reach(user.grants())).select_related("cluster", "rack")


def open_incidents() -> QuerySet[Incident]:
    return Incident.objects.filter(state__in=workflow.OPEN_STATES)


def open_incident_of(subject_key: str, family: str) -> Incident:
    return open_incidents().get(subject_key=subject_key, family=family)


def standing_incident(subject_key: str, family: str) -> Incident | None:
    """The open incident of this subject and family, or the open one that took it in."""
    of_this = Incident.objects.filter(subject_key=subject_key, family=family)
    standing = of_this.filter(state__in=workflow.OPEN_STATES).first()
    if standing:
        return standing
    taken_in = of_this.filter(state=workflow.State.MERGED, merged_into__state__in=workflow.OPEN_STATES)
    last = taken_in.select_related("merged_into").order_by("-declared_at", "-id").first()
    return last.merged_into if last else None


def earlier_incident(subject_key: str, family: str) -> Incident | None:
    """The last ended incident of the same subject and family."""
    ended = Incident.objects.filter(
        subject_key=subject_key, family=family, state__in=(workflow.State.RESTORED, workflow.State.CLOSED)
    )
    return ended.order_by("-declared_at", "-id").first()


def nodes_hit_together(node: Node | None, family: str, *, since: datetime) -> int:
    """How many nodes of the cluster have an incident of this family declared since then, this one included."""
    if node is None or family.endswith(".unclassified"):
        return 1  # what nobody has named yet is no common cause
    others = open_incidents().filter(family=family, node__cluster=node.cluster_id, declared_at__gte=since)
    return others.exclude(node=node).values("node").distinct().count() + 1


def severity_rules() -> tuple[severity.Rule, ...]:
    """The rows of the table, then the rules that ship."""
    rows = SeverityRuleRow.objects.all()
    own = (
        severity.Rule(row.name, severity.Tier(row.tier), row.fault, row.environment, row.nodes, row.is_cap)
        for row in rows
    )
    return (*own, *severity.DEFAULT_RULES)


def fault_matchers() -> QuerySet[FaultMatcher]:
    """The site's own rows of the table that names faults by labels."""
    return FaultMatcher.objects.all()


def missing_for_restore(incident: Incident) -> tuple[str, ...]:
    """What is wanting before the incident may be restored, one sentence each; empty if nothing is."""
    if incident.state != workflow.State.VERIFYING:
        return (_("Start verifying first: the incident is %(state)s.") % {"state": incident.get_state_display()},)
    way = faults.get(incident.fault).verify
    latest = incident.verifications.filter(at__gte=incident.verifying_at).order_by("-at", "-id").first()
    if latest and latest.passed and latest.kind == way:
        return ()
    return (WANTED[way](),)


WANTED = {
    "probe": lambda: _(
        "A diagnostic run newer than the repair whose probes are clean for this fault is missing. "
        "Where no run can reach or check the node, give a fresh log of it as evidence."
    ),
    "job_progress": lambda: _("A note is missing that the job's next attempt has passed the step where it failed."),
    "by_person": lambda: _("A note is missing in which somebody says what was checked."),
    "none": lambda: _("A note to file is missing."),
}


def closure_answers(incident: Incident) -> tuple[ClosureAnswer, ...]:
    """Every check of the closing dialog, met or not; upper apps add theirs."""
    answers = (check(incident) for check in closure_checks.values())
    return (_cause(incident), _restored(incident), _postmortem(incident), *(answer for answer in answers if answer))


def _cause(incident: Incident) -> ClosureAnswer:
    detail = incident.cause or _("No cause is confirmed. Confirm a finding or choose the cause.")
    return ClosureAnswer(_("A cause is confirmed"), bool(incident.cause), detail)


def _restored(incident: Incident) -> ClosureAnswer:
    done = incident.restored_at is not None
    return ClosureAnswer(
        _("Verified and restored"),
        done,
        "" if done else " ".join(missing_for_restore(incident)) or _("Restore it first."),
    )


def _postmortem(incident: Incident) -> ClosureAnswer:
    title = _("Post-mortem")
    if incident.peak_severity not in severity.NEEDS_POSTMORTEM:
        return ClosureAnswer(title, True, _("Not required below SEV2."))
    written = getattr(incident, "postmortem", None)
    if written and written.published_at:
        return ClosureAnswer(title, True, _("Published."))
    return ClosureAnswer(
        title, False, _("A %(tier)s incident needs a published post-mortem.") % {"tier": incident.peak_severity}
    )


def timeline_of(incident: Incident) -> QuerySet[TimelineEntry]:
    return incident.timeline.select_related("actor").order_by("-at", "-id")


def seen_before(user: User, incident: Incident) -> list[Incident]:
    """Earlier incidents that the user may see of the same subject, or of the same family elsewhere; the same subject first."""
    earlier = incidents_for(user).filter(declared_at__lt=incident.declared_at).exclude(pk=incident.pk)
    alike = earlier.filter(Q(subject_key=incident.subject_key) | Q(family=incident.family))
    same = Case(When(subject_key=incident.subject_key, then=0), default=1)
    return list(alike.order_by(same, "-declared_at", "-id")[:6])


def open_of_same_subject(user: User, incident: Incident) -> list[Incident]:
    """The other open incidents of the subject: what this one may be merged into."""
    others = incidents_for(user).filter(subject_key=incident.subject_key, state__in=workflow.OPEN_STATES)
    return list(others.exclude(pk=incident.pk).order_by("-declared_at", "-id")[:20])


@dataclass(frozen=True)
class TierCount:
    tier: str
    count: int


def open_by_tier(user: User) -> tuple[TierCount, ...]:
    """The open incidents that the user may see, per tier; tiers without any count zero."""
    rows = incidents_for(user).filter(state__in=workflow.OPEN_STATES).values_list("severity").annotate(n=Count("id"))
    found = dict(rows.order_by())
    return tuple(TierCount(tier, found.get(tier, 0)) for tier in severity.Tier)


def deliveries_for(user: User) -> QuerySet[Delivery]:
    """The deliveries of the sources that the user may see, newest first, without their bodies."""
    return deliveries_for_inbox().filter(source__in=Source.objects.filter(_reach(user.grants())))


def deliveries_for_inbox() -> QuerySet[Delivery]:
    return Delivery.objects.select_related("source").defer("body").order_by("-id")


def deliveries_in_need(user: User) -> int:
    """Deliveries that somebody should look at, of the sources that the user may see."""
    return deliveries_for(user).filter(state__in=(Delivery.State.NOT_UNDERSTOOD, Delivery.State.PARKED)).count()


def unassigned_alerts() -> QuerySet[Alert]:
    """Firing alerts of which not even the subject is known."""
    return Alert.objects.filter(fate=Alert.Fate.UNASSIGNED, cleared_at=None).select_related("source").order_by("-id")


def parked_reactions() -> QuerySet[Reaction]:
    return Reaction.objects.exclude(parked_at=None).select_related("event").order_by("-id")


def heartbeats() -> dict[str, datetime]:
    return dict(Heartbeat.objects.values_list("name", "at"))


def month_of(user: User, *, start: datetime, end: datetime, as_of: datetime) -> statistics.Month:
    """The figures of [start, end) from the incidents that the user may see, in one query."""
    reaching = Q(declared_at__gte=start) | Q(restored_at__gte=start)
    rows = incidents_for(user).filter(reaching, declared_at__lte=end + statistics.RECURRENCE_WINDOW)
    return statistics.month(_facts(rows), start=start, end=end, as_of=as_of)


def _facts(rows: QuerySet[Incident]) -> list[statistics.IncidentFact]:
    reopened = Exists(TimelineEntry.objects.filter(incident=OuterRef("pk"), kind=workflow.Move.REOPEN))
    values = (
        rows.annotate(was_reopened=reopened)
        .order_by("declared_at", "id")
        .values_list(
            "id",
            "severity",
            "fault",
            "family",
            "subject_key",
            "state",
            "disposition",
            "declared_at",
            "acknowledged_at",
            "restored_at",
            "impact_started_at",
            "was_reopened",
        )
    )
    return [statistics.IncidentFact(*row) for row in values]
