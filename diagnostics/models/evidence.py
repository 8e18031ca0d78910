from datetime import datetime

from django.db import models

from incidents.models import AppendOnly


class Evidence(AppendOnly):
    """What a probe read or a person gave, as it is kept: redacted, compressed, addressed by the SHA-256 of its redacted bytes."""

    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    stored_size = models.PositiveBigIntegerField()
    name = models.CharField(max_length=200)  # as given; for people, never a path to open
    media = models.CharField(max_length=80, default="text/plain")
    node = models.ForeignKey("incidents.Node", on_delete=models.PROTECT, null=True, blank=True, related_name="evidence")
    incident = models.ForeignKey(
        "incidents.Incident", on_delete=models.PROTECT, null=True, blank=True, related_name="evidence"
    )
    run = models.ForeignKey(
        "diagnostics.DiagnosticRun", on_delete=models.PROTECT, null=True, blank=True, related_name="evidence"
    )
    probe = models.CharField(max_length=40, blank=True)
    captured_at = models.DateTimeField()
    uploaded_by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    path = models.CharField(max_length=80)  # in the default storage
    redactions = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "evidence"
        indexes = [
            models.Index(fields=["incident", "-id"]),
            models.Index(fields=["run", "id"]),
            models.Index(fields=["sha256"]),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.sha256[:12]})"

    @property
    def purged_at(self) -> datetime | None:
        purge = getattr(self, "purge", None)
        return purge.at if purge else None


class EvidencePurge(AppendOnly):
    """The tombstone of evidence whose bytes were removed: the row stays, with its hash."""

    evidence = models.OneToOneField(Evidence, on_delete=models.PROTECT, related_name="purge")
    at = models.DateTimeField()
    by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    reason = models.CharField(max_length=500)

    def __str__(self) -> str:
        return f"{self.evidence} purged at {self.at:%Y-%m-%d %H:%M}"
