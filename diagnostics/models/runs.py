from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class DiagnosticRun(models.Model):
    """One examination of a node, or of evidence that somebody gave. The plan names its probes."""

    class Purpose(models.TextChoices):
        TRIAGE = "triage", _("first look")
        VERIFY = "verify", _("verification")
        MANUAL = "manual", _("by hand")
        UPLOAD = "upload", _("given evidence")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        JUDGING = "judging", _("judging")
        FINISHED = "finished", _("finished")
        CANCELLED = "cancelled", _("cancelled")

    UNFINISHED = (State.WAITING, State.RUNNING, State.JUDGING)

    incident = models.ForeignKey(
        "incidents.Incident", on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    node = models.ForeignKey("incidents.Node", on_delete=models.PROTECT, null=True, blank=True, related_name="runs")
    plan = models.CharField(max_length=40)
    purpose = models.CharField(max_length=10, choices=Purpose)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    since = models.DateTimeField(null=True, blank=True)  # evidence of an earlier time is not judged
    requested_by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    requested_by_name = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    rung_at = models.DateTimeField(null=True, blank=True)  # when the queue was last told to judge it
    judge_lease_until = models.DateTimeField(null=True, blank=True)
    judge_attempts = models.PositiveSmallIntegerField(default=0)
    engine_version = models.CharField(max_length=40, blank=True)
    catalog_version = models.CharField(max_length=40, blank=True)
    summary = models.JSONField(default=dict, blank=True)  # counts of probe outcomes and findings, the root faults

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "purpose"],
                condition=Q(state__in=("waiting", "running", "judging"), incident__isnull=False) & ~Q(purpose="upload"),
                name="one_unfinished_run_per_incident",
            ),
            models.UniqueConstraint(
                fields=["node", "purpose"],
                condition=Q(state__in=("waiting", "running", "judging"), incident=None) & ~Q(purpose="upload"),
                name="one_unfinished_run_per_node",
            ),
            models.CheckConstraint(
                condition=Q(incident__isnull=False) | Q(node__isnull=False), name="a_run_has_a_subject"
            ),
        ]
        indexes = [
            models.Index(fields=["incident", "-id"]),
            models.Index(fields=["node", "-id"]),
            models.Index(
                fields=["id"], name="run_unfinished", condition=Q(state__in=("waiting", "running", "judging"))
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.node or self.incident}"

    @property
    def is_finished(self) -> bool:
        return self.state not in self.UNFINISHED

    @property
    def is_automatic(self) -> bool:
        return self.requested_by_id is None and self.purpose in (self.Purpose.TRIAGE, self.Purpose.VERIFY)


class ProbeResult(models.Model):
    """One probe of one run: what the worker claims, and what came of it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")

    class Outcome(models.TextChoices):
        CLEAN = "clean", _("clean")
        FINDINGS = "findings", _("findings")
        COULD_NOT_CHECK = "could_not_check", _("could not check")
        NOT_SUPPORTED = "not_supported", _("not supported here")

    run = models.ForeignKey(DiagnosticRun, on_delete=models.CASCADE, related_name="probes")
    probe = models.CharField(max_length=40)
    version = models.CharField(max_length=20)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    outcome = models.CharField(max_length=20, choices=Outcome, blank=True)  # empty until it is known
    reason = models.CharField(max_length=500, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    rung_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "probe"], name="probe_once_per_run")]
        indexes = [
            models.Index(fields=["due_at"], name="probe_due", condition=Q(state__in=("waiting", "running"))),
        ]
        ordering = ["run", "id"]

    def __str__(self) -> str:
        return f"{self.probe}: {self.outcome or self.state}"
