from django.db import models
from django.db.models import Q

from incidents.models.appendonly import AppendOnly


class Event(AppendOnly):
    """What happened, written in the transaction in which it happened. `payload` holds ids and small values only."""

    kind = models.CharField(max_length=60)
    at = models.DateTimeField()
    payload = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["kind", "at"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class DueRow(models.Model):
    """Work that a loop takes: due, leased, tried, done or parked."""

    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    done_at = models.DateTimeField(null=True, blank=True)
    parked_at = models.DateTimeField(null=True, blank=True)
    last_error = models.TextField(blank=True)

    class Meta:
        abstract = True


class Reaction(DueRow):
    """What one consumer does about one event."""

    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="reactions")
    consumer = models.CharField(max_length=80)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "consumer"], name="react_once")]
        indexes = [
            models.Index(fields=["due_at"], name="reaction_due", condition=Q(done_at=None, parked_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.consumer} of {self.event}"


class Heartbeat(models.Model):
    """The last sign of life of a part of Sickbay: pager, worker, beat."""

    name = models.CharField(max_length=40, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} {self.at:%H:%M:%S}"
