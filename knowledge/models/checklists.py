from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from incidents.models import AppendOnly
from knowledge.domain.route import StepState


class ChecklistRun(models.Model):
    """A SOP worked through in an incident, pinned to the very revision with which it began."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        FINISHED = "finished", _("finished")
        ABANDONED = "abandoned", _("not worked through")

    incident = models.ForeignKey("incidents.Incident", on_delete=models.PROTECT, related_name="checklists")
    sop = models.ForeignKey("knowledge.Sop", on_delete=models.PROTECT, related_name="checklists")
    revision = models.ForeignKey("knowledge.SopRevision", on_delete=models.PROTECT, related_name="checklists")
    content_sha256 = models.CharField(max_length=64)
    language = models.CharField(max_length=10)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    started_by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    started_by_name = models.CharField(max_length=120)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=10, blank=True)  # where the path ended: verify, escalate or close
    skip_reason = models.TextField(blank=True)  # why it was not used, or not to its end

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "sop"], condition=Q(state="open"), name="one_open_checklist_per_sop"
            ),
            models.CheckConstraint(condition=~Q(state="abandoned", skip_reason=""), name="abandoned_with_a_reason"),
        ]
        indexes = [models.Index(fields=["incident", "-id"])]

    def __str__(self) -> str:
        return f"checklist {self.pk} of {self.revision}"


class StepResult(AppendOnly):
    """A tick: what became of a step, who said so and when. The newest of a step counts."""

    STATES = [
        (StepState.DONE, _("done")),
        (StepState.FAILED, _("failed")),
        (StepState.SKIPPED, _("skipped")),
        (StepState.UNDONE, _("taken back")),
    ]

    run = models.ForeignKey(ChecklistRun, on_delete=models.PROTECT, related_name="results")
    step_key = models.CharField(max_length=40)
    step_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=STATES)
    outcome = models.CharField(max_length=40, blank=True)  # the branch taken: ok, met, not_met, error, or an answer
    note = models.TextField(blank=True)
    by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    by_name = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=["failed", "skipped"], note=""), name="failed_and_skipped_say_why"
            ),
        ]
        indexes = [models.Index(fields=["run", "step_key", "-id"])]

    def __str__(self) -> str:
        return f"{self.step_key}: {self.state}"
