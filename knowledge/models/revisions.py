from django.db import models

from incidents.models import AppendOnly


class SopRevision(AppendOnly):
    """What a SOP said at one time, whole: `body` is the Markdown with its front matter, `content_sha256` its SHA-256.

    The database refuses to change or delete a row (migration 0002).
    """

    sop = models.ForeignKey("knowledge.Sop", on_delete=models.PROTECT, related_name="revisions")
    language = models.CharField(max_length=10)
    number = models.PositiveIntegerField()  # counts from 1 per SOP and language
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="children")
    # The revision of the source language that a translation follows.
    based_on = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="translations")
    title = models.CharField(max_length=200)
    body = models.TextField()
    content_sha256 = models.CharField(max_length=64)
    author = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    author_name = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    change_note = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            # Two who save on the same base: the second finds its number taken.
            models.UniqueConstraint(fields=["sop", "language", "number"], name="revision_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.sop.slug} r{self.number} ({self.language})"


class Step(AppendOnly):
    """A step of a revision, as parsed from its body. `spec` is its block, `prose` the words for people."""

    revision = models.ForeignKey(SopRevision, on_delete=models.PROTECT, related_name="steps")
    key = models.CharField(max_length=40)
    position = models.PositiveIntegerField()  # counts from 1
    title = models.CharField(max_length=300)
    type = models.CharField(max_length=10)
    spec = models.JSONField(default=dict)
    prose = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["revision", "key"], name="step_key_once"),
            models.UniqueConstraint(fields=["revision", "position"], name="step_position_once"),
        ]
        ordering = ["revision", "position"]

    def __str__(self) -> str:
        return f"{self.position}. {self.title}"
