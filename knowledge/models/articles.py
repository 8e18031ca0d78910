from django.db import models
from django.utils.translation import gettext_lazy as _

from incidents.models import AppendOnly


class Sop(models.Model):
    """A standard operating procedure. What it says is in its revisions; `slug` is the `id` of their front matter."""

    class Kind(models.TextChoices):
        SOP = "sop", _("SOP")

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        PUBLISHED = "published", _("published")
        WITHDRAWN = "withdrawn", _("withdrawn")
        RETIRED = "retired", _("retired")

    slug = models.SlugField(max_length=80, unique=True)
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.SOP)
    owner = models.CharField(max_length=200)
    source_language = models.CharField(max_length=10, default="en")
    status = models.CharField(max_length=20, choices=Status, default=Status.DRAFT)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = _("SOP")

    def __str__(self) -> str:
        return self.slug


class Publication(models.Model):
    """Which revision of a SOP is the published one, per language; the only row here that moves."""

    sop = models.ForeignKey(Sop, on_delete=models.CASCADE, related_name="publications")
    language = models.CharField(max_length=10)
    revision = models.ForeignKey("knowledge.SopRevision", on_delete=models.PROTECT, related_name="publications")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sop", "language"], name="one_published_revision_per_language")]

    def __str__(self) -> str:
        return f"{self.revision} is published"


class PublishEvent(AppendOnly):
    """A revision was published, withdrawn or retired; the newest of a revision tells how it stands."""

    class Action(models.TextChoices):
        PUBLISH = "publish", _("published")
        WITHDRAW = "withdraw", _("withdrawn")
        RETIRE = "retire", _("retired")

    revision = models.ForeignKey("knowledge.SopRevision", on_delete=models.PROTECT, related_name="publish_events")
    action = models.CharField(max_length=10, choices=Action)
    reason = models.TextField(blank=True)
    by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    by_name = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["revision", "-id"])]

    def __str__(self) -> str:
        return f"{self.revision}: {self.action} by {self.by_name}"


class Draft(models.Model):
    """A person's text that is no revision (yet); what a refused save leaves behind, so that no text is lost."""

    sop = models.ForeignKey(Sop, on_delete=models.CASCADE, related_name="drafts")
    language = models.CharField(max_length=10)
    user = models.ForeignKey("incidents.User", on_delete=models.CASCADE, related_name="sop_drafts")
    base = models.PositiveIntegerField()  # the number of the revision that it changes; 0 for none
    body = models.TextField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sop", "language", "user"], name="one_draft_per_person")]

    def __str__(self) -> str:
        return f"draft of {self.sop} by {self.user}"
