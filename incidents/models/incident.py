from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from incidents.domain.severity import Tier
from incidents.domain.workflow import OPEN_STATES, Disposition, State
from incidents.models.appendonly import AppendOnly

TIERS = [(tier.value, tier.value) for tier in Tier]
STATES = [
    (State.OPEN, _("Open")),
    (State.ACKNOWLEDGED, _("Acknowledged")),
    (State.MITIGATED, _("Mitigated")),
    (State.REPAIRING, _("Repairing")),
    (State.VERIFYING, _("Verifying")),
    (State.RESTORED, _("Restored")),
    (State.CLOSED, _("Closed")),
    (State.MERGED, _("Merged")),
]
DISPOSITIONS = [
    (Disposition.NOT_A_FAULT, _("Not a fault")),
    (Disposition.NO_TROUBLE_FOUND, _("No trouble found")),
    (Disposition.DUPLICATE, _("Duplicate")),
    (Disposition.EXPECTED, _("Expected")),
]
CLOCKS = (
    "impact_started_at",
    "detected_at",
    "declared_at",
    "acknowledged_at",
    "mitigated_at",
    "restored_at",
    "closed_at",
)


class Incident(models.Model):
    """A node, rack or job that is ill. One is open per subject and fault family."""

    title = models.CharField(max_length=200)
    fault = models.CharField(max_length=60)
    family = models.CharField(max_length=60)
    subject_key = models.CharField(max_length=80)  # "node:12", "rack:3", "job:7"
    node = models.ForeignKey(
        "incidents.Node", on_delete=models.PROTECT, null=True, blank=True, related_name="incidents"
    )
    rack = models.ForeignKey(
        "incidents.Rack", on_delete=models.PROTECT, null=True, blank=True, related_name="incidents"
    )
    job = models.ForeignKey("incidents.Job", on_delete=models.PROTECT, null=True, blank=True, related_name="incidents")
    cluster = models.ForeignKey("incidents.Cluster", on_delete=models.PROTECT, null=True, blank=True)
    team = models.ForeignKey("incidents.Team", on_delete=models.SET_NULL, null=True, blank=True)
    severity = models.CharField(max_length=4, choices=TIERS)
    peak_severity = models.CharField(max_length=4, choices=TIERS)
    severity_rule = models.CharField(max_length=120)
    needs_mapping = models.BooleanField(default=False)  # the source's severity word is not in our table
    state = models.CharField(max_length=20, choices=STATES, default=State.OPEN)
    disposition = models.CharField(max_length=20, choices=DISPOSITIONS, blank=True)
    cause = models.CharField(max_length=60, blank=True)  # a fault code
    cause_note = models.TextField(blank=True)
    assignee = models.ForeignKey(
        "incidents.User", on_delete=models.SET_NULL, null=True, blank=True, related_name="assigned_incidents"
    )
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="merged")
    recurrence_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="recurrences"
    )
    impact_started_at = models.DateTimeField()
    detected_at = models.DateTimeField()
    declared_at = models.DateTimeField()
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    mitigated_at = models.DateTimeField(null=True, blank=True)
    repair_started_at = models.DateTimeField(null=True, blank=True)
    verifying_at = models.DateTimeField(null=True, blank=True)
    restored_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    state_at = models.DateTimeField()  # since when it is in its state
    version = models.PositiveIntegerField(default=0)  # counts changes; the ETag of live pages

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["subject_key", "family"],
                condition=Q(state__in=sorted(OPEN_STATES)),
                name="one_open_incident_per_subject_and_family",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "severity", "-declared_at"]),
            models.Index(fields=["node", "-declared_at"]),
            models.Index(fields=["fault", "-declared_at"]),
            models.Index(fields=["-declared_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.title}"

    @property
    def reference(self) -> str:
        return f"INC-{self.pk:04d}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def subject(self) -> str:
        return str(self.node or self.rack or self.job or "")

    def get_absolute_url(self) -> str:
        return reverse("incident", args=[self.pk])


class IncidentPart(models.Model):
    """An affected part of an incident, firing or cleared by itself. A node or job as a whole is a part of its own."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="parts")
    part = models.ForeignKey("incidents.Part", on_delete=models.PROTECT, null=True, blank=True)
    kind = models.CharField(max_length=20)  # a PartKind, or "node", "job", "rack"
    locator = models.CharField(max_length=200)  # "GPU 5", "mlx5_3", a DIMM label, or the name of the whole
    fault = models.CharField(max_length=60)
    firing = models.BooleanField(default=True)
    fired_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True, blank=True)
    recurrences = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "locator", "fault"], name="part_once_per_incident")]
        ordering = ["incident", "locator", "fault"]

    def __str__(self) -> str:
        return f"{self.locator}: {'firing' if self.firing else 'cleared'}"


class TimelineEntry(AppendOnly):
    """One thing that happened to an incident. `kind` picks the sentence, `data` fills it in."""

    class Voice(models.TextChoices):
        SOURCE = "source", _("source")
        SICKBAY = "sickbay", "Sickbay"
        PERSON = "person", _("person")

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="timeline")
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    voice = models.CharField(max_length=10, choices=Voice)
    actor = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    actor_name = models.CharField(max_length=120)
    data = models.JSONField(default=dict, blank=True)
    text = models.TextField(blank=True)  # what a person wrote

    class Meta:
        indexes = [models.Index(fields=["incident", "at", "id"])]
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor_name}"


class Verification(AppendOnly):
    """An answer to the question whether the repair holds."""

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="verifications")
    kind = models.CharField(max_length=20)  # the `verify` of a fault: probe, job_progress, by_person, none
    passed = models.BooleanField()
    at = models.DateTimeField()
    by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    reason = models.TextField()
    reference = models.CharField(max_length=80, blank=True)  # such as "run:42"

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.kind}: {'passed' if self.passed else 'not passed'}"


class Waiting(models.Model):
    """A time in which the incident waited for somebody or something else."""

    class Reason(models.TextChoices):
        PART = "part", _("a spare part")
        VENDOR = "vendor", _("the vendor")
        ACCESS = "access", _("access to the site")
        WINDOW = "window", _("a maintenance window")

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="waits")
    reason = models.CharField(max_length=20, choices=Reason)
    note = models.CharField(max_length=500, blank=True)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident"], condition=Q(until=None), name="waits_for_one_thing"),
        ]

    def __str__(self) -> str:
        return f"waits for {self.reason}"


class SeverityRuleRow(models.Model):
    """An editable row of the severity table; asked before the rules that ship."""

    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=120)
    tier = models.CharField(max_length=4, choices=TIERS)
    fault = models.CharField(max_length=60, default="*")
    environment = models.CharField(max_length=40, default="*")
    nodes = models.PositiveIntegerField(default=1)
    is_cap = models.BooleanField(default=False)

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.name
