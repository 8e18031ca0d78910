from django.db import models

from incidents.models import AppendOnly


class FaultLink(models.Model):
    """A SOP treats a fault. The smallest `priority` of a fault is suggested first."""

    sop = models.ForeignKey("knowledge.Sop", on_delete=models.CASCADE, related_name="fault_links")
    fault = models.CharField(max_length=60)
    priority = models.PositiveIntegerField(default=0)  # its place in the front matter

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sop", "fault"], name="fault_once_per_sop")]
        indexes = [models.Index(fields=["fault", "priority"])]

    def __str__(self) -> str:
        return f"{self.fault}: {self.sop}"


class FindingLink(AppendOnly):
    """The revision that was published for a fault when it was found; later revisions do not move it."""

    finding = models.ForeignKey("diagnostics.Finding", on_delete=models.PROTECT, related_name="sop_links")
    incident = models.ForeignKey("incidents.Incident", on_delete=models.PROTECT, related_name="sop_links")
    revision = models.ForeignKey("knowledge.SopRevision", on_delete=models.PROTECT, related_name="finding_links")
    content_sha256 = models.CharField(max_length=64)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["finding", "revision"], name="link_once")]
        indexes = [models.Index(fields=["incident", "-id"])]

    def __str__(self) -> str:
        return f"{self.revision} for finding {self.finding_id}"
