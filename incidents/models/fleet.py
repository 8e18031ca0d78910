from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Cluster(models.Model):
    name = models.CharField(max_length=80, unique=True)
    environment = models.CharField(max_length=40, default="production")

    def __str__(self) -> str:
        return self.name


class Rack(models.Model):
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="racks")
    name = models.CharField(max_length=80)
    power_feed = models.CharField(max_length=80, blank=True)
    cooling = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="rack_once")]

    def __str__(self) -> str:
        return f"{self.cluster.name}/{self.name}"


class LifeCycle(models.TextChoices):
    COMMISSIONED = "commissioned", _("commissioned")
    IN_SERVICE = "in_service", _("in service")
    CORDONED = "cordoned", _("cordoned")
    DRAINING = "draining", _("draining")
    REPAIR = "repair", _("in repair")
    VERIFYING = "verifying", _("verifying")
    RETIRED = "retired", _("retired")


class Node(models.Model):
    """A server. `hostname` is lower case; `is_discovered` if an alert named it before anybody enrolled it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="nodes")
    rack = models.ForeignKey(Rack, on_delete=models.SET_NULL, null=True, blank=True, related_name="nodes")
    team = models.ForeignKey("incidents.Team", on_delete=models.SET_NULL, null=True, blank=True)
    hostname = models.CharField(max_length=253, unique=True)
    other_names = models.JSONField(default=list, blank=True)  # FQDNs and addresses, lower case
    serial = models.CharField(max_length=120, blank=True)
    vendor = models.CharField(max_length=120, blank=True)
    product = models.CharField(max_length=120, blank=True)
    bmc_address = models.CharField(max_length=253, blank=True)
    life_cycle = models.CharField(max_length=20, choices=LifeCycle, default=LifeCycle.IN_SERVICE)
    is_local = models.BooleanField(default=False)
    is_discovered = models.BooleanField(default=False)
    expected_gpus = models.PositiveSmallIntegerField(null=True, blank=True)
    facts = models.JSONField(default=dict, blank=True)  # what DMI, /proc and NVML said, as read
    facts_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.hostname


class LifeCycleChange(models.Model):
    """One step in the life of a node; the exposure of the statistics comes from these."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="life_cycle_changes")
    life_cycle = models.CharField(max_length=20, choices=LifeCycle)
    at = models.DateTimeField()
    by = models.CharField(max_length=120)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["node", "at", "id"]

    def __str__(self) -> str:
        return f"{self.node}: {self.life_cycle} at {self.at:%Y-%m-%d %H:%M}"


class PartKind(models.TextChoices):
    GPU = "gpu", _("GPU")
    CPU = "cpu", _("CPU")
    DIMM = "dimm", _("DIMM")
    DRIVE = "drive", _("drive")
    NIC_PORT = "nic_port", _("NIC port")
    PSU = "psu", _("power supply")
    FAN = "fan", _("fan")
    BOARD = "board", _("board")
    OTHER = "other", _("other")


class Part(models.Model):
    """A part in a slot of a node. A swap ends one row and begins another with the same slot."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="parts")
    kind = models.CharField(max_length=20, choices=PartKind)
    slot = models.CharField(max_length=80)
    model = models.CharField(max_length=120, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    uuid = models.CharField(max_length=80, blank=True)
    pci_address = models.CharField(max_length=16, blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    installed_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["node", "kind", "slot"], condition=Q(removed_at=None), name="one_part_in_a_slot"
            )
        ]
        ordering = ["node", "kind", "slot"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.slot}"


class Job(models.Model):
    """A training or inference job, by the id that its scheduler gave it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="jobs")
    team = models.ForeignKey("incidents.Team", on_delete=models.SET_NULL, null=True, blank=True)
    scheduler_id = models.CharField(max_length=120)
    name = models.CharField(max_length=200, blank=True)
    owner = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "scheduler_id"], name="job_once")]

    def __str__(self) -> str:
        return self.name or self.scheduler_id


class JobAttempt(models.Model):
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=40, blank=True)  # the scheduler's own word
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    nodes = models.ManyToManyField(Node, related_name="job_attempts", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="attempt_once")]
        ordering = ["job", "number"]

    def __str__(self) -> str:
        return f"{self.job} attempt {self.number}"
