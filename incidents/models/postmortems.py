from django.db import models


class PostMortem(models.Model):
    """What was learnt from an incident. It counts once it is published."""

    incident = models.OneToOneField("incidents.Incident", on_delete=models.PROTECT, related_name="postmortem")
    author = models.ForeignKey("incidents.User", on_delete=models.PROTECT)
    summary = models.TextField(blank=True)
    impact = models.TextField(blank=True)
    root_cause = models.TextField(blank=True)
    prevention = models.TextField(blank=True)
    updated_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"post-mortem of {self.incident}"
