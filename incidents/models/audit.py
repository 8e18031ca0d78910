from django.db import models

from incidents.models.appendonly import AppendOnly


class AuditEntry(AppendOnly):
    """Who changed what, from which value to which."""

    at = models.DateTimeField()
    actor = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    actor_name = models.CharField(max_length=120)
    verb = models.CharField(max_length=60)
    object_kind = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    object_name = models.CharField(max_length=200)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["object_kind", "object_id", "at"]), models.Index(fields=["-at"])]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.object_name}"
