from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from incidents.domain.fingerprint import is_fault
from incidents.models.events import DueRow


class Source(models.Model):
    """A sender of alerts. Its token is part of the address; only its SHA-256 is kept."""

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=20)
    team = models.ForeignKey("incidents.Team", on_delete=models.SET_NULL, null=True, blank=True)
    cluster = models.ForeignKey("incidents.Cluster", on_delete=models.PROTECT, null=True, blank=True)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_heartbeat_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Delivery(DueRow):
    """A body as it came, kept before anybody tries to understand it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        PROCESSED = "processed", _("processed")
        NOT_UNDERSTOOD = "not_understood", _("not understood")
        PARKED = "parked", _("parked")

    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="deliveries")
    received_at = models.DateTimeField()
    method = models.CharField(max_length=8)
    address = models.CharField(max_length=64)
    headers = models.JSONField(default=dict)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    body = models.BinaryField()
    is_cut = models.BooleanField(default=False)  # longer than the limit; the rest was not kept
    state = models.CharField(max_length=20, choices=State, default=State.WAITING)
    summary = models.JSONField(default=dict, blank=True)  # what became of it: counts by fate

    class Meta:
        indexes = [
            models.Index(fields=["id"], name="delivery_waiting", condition=Q(state="waiting")),
            models.Index(fields=["source", "-id"]),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk} from {self.source}"


class Alert(models.Model):
    """One episode of one alert of one source: from the moment it fired to the moment it cleared."""

    class Fate(models.TextChoices):
        OPENED = "opened", _("opened an incident")
        JOINED = "joined", _("joined an incident")
        REOPENED = "reopened", _("reopened an incident")
        CLEARED = "cleared", _("cleared")
        KNOWN = "known", _("already known")
        HEARTBEAT = "heartbeat", _("sign of life")
        UNASSIGNED = "unassigned", _("no subject found")

    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="alerts")
    fingerprint = models.CharField(max_length=64)
    starts_at = models.DateTimeField()
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    seen_count = models.PositiveIntegerField(default=1)
    cleared_at = models.DateTimeField(null=True, blank=True)
    name = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    labels = models.JSONField(default=dict)
    annotations = models.JSONField(default=dict)
    severity_hint = models.CharField(max_length=80, blank=True)
    fault = models.CharField(max_length=60, blank=True)
    xid = models.PositiveIntegerField(null=True, blank=True)
    node = models.ForeignKey("incidents.Node", on_delete=models.PROTECT, null=True, blank=True, related_name="alerts")
    job = models.ForeignKey("incidents.Job", on_delete=models.PROTECT, null=True, blank=True, related_name="alerts")
    locator = models.CharField(max_length=200, blank=True)
    incident = models.ForeignKey(
        "incidents.Incident", on_delete=models.PROTECT, null=True, blank=True, related_name="alerts"
    )
    fate = models.CharField(max_length=20, choices=Fate)
    fate_reason = models.CharField(max_length=200, blank=True)
    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, related_name="alerts")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "fingerprint", "starts_at"], name="episode_once"),
        ]
        indexes = [
            models.Index(fields=["source", "fingerprint", "-starts_at"]),
            models.Index(fields=["incident", "cleared_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.name} on {self.locator or self.node or self.job or '?'}"


class FaultMatcher(models.Model):
    """An editable row of the table that names a fault by the labels of an alert; asked before the rows that ship."""

    position = models.PositiveIntegerField(default=0)
    label = models.CharField(max_length=80, default="alertname")
    pattern = models.CharField(max_length=200)  # as in file names, any case
    fault = models.CharField(max_length=60)

    class Meta:
        ordering = ["position", "id"]

    def clean(self) -> None:
        if not is_fault(self.fault):
            raise ValidationError({"fault": _("There is no fault '%(code)s'.") % {"code": self.fault}})

    def __str__(self) -> str:
        return f"{self.label} like {self.pattern}: {self.fault}"
