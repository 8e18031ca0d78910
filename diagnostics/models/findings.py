from django.db import models

from incidents.models import TIERS, AppendOnly


class Finding(AppendOnly):
    """A fault that the engine read from evidence, with the very lines. A consequence hangs on its root by `parent`."""

    run = models.ForeignKey("diagnostics.DiagnosticRun", on_delete=models.PROTECT, related_name="findings")
    incident = models.ForeignKey(
        "incidents.Incident", on_delete=models.PROTECT, null=True, blank=True, related_name="findings"
    )
    node = models.ForeignKey("incidents.Node", on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    part = models.ForeignKey("incidents.Part", on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="consequences")
    evidence = models.ForeignKey(
        "diagnostics.Evidence", on_delete=models.PROTECT, null=True, blank=True, related_name="findings"
    )
    fault = models.CharField(max_length=60)
    family = models.CharField(max_length=60)
    root = models.BooleanField()
    severity = models.CharField(max_length=4, choices=TIERS)
    component = models.CharField(max_length=200, blank=True)
    node_name = models.CharField(max_length=253, blank=True)  # as the evidence names it
    rank = models.PositiveIntegerField(null=True, blank=True)
    ranks = models.JSONField(default=list, blank=True)
    title = models.CharField(max_length=300)
    detail = models.TextField(blank=True)
    line = models.TextField(blank=True)
    line_number = models.PositiveIntegerField(default=0)  # counts from 1; 0 where the evidence has no lines
    lines = models.JSONField(default=list, blank=True)  # [{"number", "text"}]
    confidence = models.CharField(max_length=10)
    action = models.TextField(blank=True)
    first_at = models.DateTimeField(null=True, blank=True)
    last_at = models.DateTimeField(null=True, blank=True)
    count = models.PositiveIntegerField(default=1)
    boot = models.CharField(max_length=80, blank=True)  # its id, or its number in a log that shows several
    injected = models.BooleanField(default=False)  # a test put it there
    authorities = models.JSONField(default=dict, blank=True)  # who says what to do: {"nvidia": "RESET_GPU"}
    part_facts = models.JSONField(
        default=dict, blank=True
    )  # what was known of the part then: index, uuid, serial, slot
    engine_version = models.CharField(max_length=40)
    catalog_version = models.CharField(max_length=40)

    class Meta:
        indexes = [
            models.Index(fields=["incident", "-id"]),
            models.Index(fields=["node", "-id"]),
            models.Index(fields=["fault", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.fault} {self.component}".strip()


class FindingVerdict(AppendOnly):
    """What a person says of a finding. The newest counts."""

    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="verdicts")
    confirmed = models.BooleanField()  # False: rejected
    by = models.ForeignKey("incidents.User", on_delete=models.PROTECT, null=True, blank=True)
    at = models.DateTimeField()
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.finding}: {'confirmed' if self.confirmed else 'rejected'}"
