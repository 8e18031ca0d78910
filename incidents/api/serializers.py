from rest_framework import serializers

from incidents.models import Incident, IncidentPart, Node, Part, TimelineEntry


class PartSerializer(serializers.ModelSerializer):
    class Meta:
        model = Part
        fields = [
            "id",
            "kind",
            "slot",
            "model",
            "serial",
            "uuid",
            "pci_address",
            "attributes",
            "installed_at",
            "removed_at",
        ]


class NodeSerializer(serializers.ModelSerializer):
    cluster = serializers.CharField(source="cluster.name", read_only=True)
    rack = serializers.CharField(source="rack.name", read_only=True, default=None)

    class Meta:
        model = Node
        fields = [
            "id",
            "hostname",
            "cluster",
            "rack",
            "other_names",
            "serial",
            "vendor",
            "product",
            "life_cycle",
            "is_local",
            "is_discovered",
            "expected_gpus",
            "facts",
            "facts_at",
        ]


class NodeDetailSerializer(NodeSerializer):
    parts = PartSerializer(many=True, read_only=True)

    class Meta(NodeSerializer.Meta):
        fields = [*NodeSerializer.Meta.fields, "parts"]


class IncidentPartSerializer(serializers.ModelSerializer):
    class Meta:
        model = IncidentPart
        fields = ["kind", "locator", "fault", "firing", "fired_at", "cleared_at", "recurrences"]


class TimelineEntrySerializer(serializers.ModelSerializer):
    class Meta:
        model = TimelineEntry
        fields = ["id", "at", "kind", "voice", "actor_name", "text", "data"]


class IncidentSerializer(serializers.ModelSerializer):
    reference = serializers.CharField(read_only=True)
    node = serializers.CharField(source="node.hostname", read_only=True, default=None)
    job = serializers.CharField(source="job.scheduler_id", read_only=True, default=None)
    assignee = serializers.CharField(source="assignee.username", read_only=True, default=None)
    merged_into = serializers.CharField(source="merged_into.reference", read_only=True, default=None)
    recurrence_of = serializers.CharField(source="recurrence_of.reference", read_only=True, default=None)

    class Meta:
        model = Incident
        fields = [
            "id",
            "reference",
            "title",
            "fault",
            "family",
            "severity",
            "peak_severity",
            "severity_rule",
            "needs_mapping",
            "state",
            "disposition",
            "cause",
            "cause_note",
            "node",
            "job",
            "assignee",
            "merged_into",
            "recurrence_of",
            "impact_started_at",
            "detected_at",
            "declared_at",
            "acknowledged_at",
            "mitigated_at",
            "repair_started_at",
            "verifying_at",
            "restored_at",
            "closed_at",
        ]


class IncidentDetailSerializer(IncidentSerializer):
    parts = IncidentPartSerializer(many=True, read_only=True)
    timeline = TimelineEntrySerializer(many=True, read_only=True)

    class Meta(IncidentSerializer.Meta):
        fields = [*IncidentSerializer.Meta.fields, "parts", "timeline"]


class OpenIncident(serializers.Serializer):
    """What opening an incident by hand needs."""

    node = serializers.CharField(help_text="Host name of a node")
    fault = serializers.CharField(default="node.unclassified")
    severity = serializers.ChoiceField(["SEV1", "SEV2", "SEV3", "SEV4"], required=False)
    text = serializers.CharField(required=False, allow_blank=True, default="")
