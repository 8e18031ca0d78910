from rest_framework import serializers

from diagnostics.models import DiagnosticRun, Evidence, Finding, FindingVerdict, ProbeResult
from diagnostics.probes.table import PLANS


class ProbeResultSerializer(serializers.ModelSerializer):
    class Meta:
        model = ProbeResult
        fields = ["probe", "version", "state", "outcome", "reason", "attempts", "started_at", "finished_at"]


class RunSerializer(serializers.ModelSerializer):
    node = serializers.CharField(source="node.hostname", read_only=True, default=None)
    probes = ProbeResultSerializer(many=True, read_only=True)

    class Meta:
        model = DiagnosticRun
        fields = [
            "id",
            "incident",
            "node",
            "plan",
            "purpose",
            "state",
            "since",
            "requested_by_name",
            "created_at",
            "started_at",
            "finished_at",
            "engine_version",
            "catalog_version",
            "summary",
            "probes",
        ]


class StartRun(serializers.Serializer):
    """Of an incident or of a node. `verify` proves the repair of an incident that is being verified."""

    incident = serializers.IntegerField(required=False)
    node = serializers.CharField(required=False, help_text="host name")
    plan = serializers.ChoiceField(list(PLANS), default="triage")
    purpose = serializers.ChoiceField(
        [DiagnosticRun.Purpose.MANUAL.value, DiagnosticRun.Purpose.VERIFY.value], default="manual"
    )


class VerdictSerializer(serializers.ModelSerializer):
    by = serializers.CharField(source="by.username", read_only=True, default=None)

    class Meta:
        model = FindingVerdict
        fields = ["confirmed", "by", "at", "note"]


class SayVerdict(serializers.Serializer):
    confirmed = serializers.BooleanField()
    note = serializers.CharField(required=False, allow_blank=True, default="")


class ConsequenceSerializer(serializers.ModelSerializer):
    class Meta:
        model = Finding
        fields = [
            "id",
            "fault",
            "severity",
            "component",
            "title",
            "detail",
            "evidence",
            "line",
            "line_number",
            "lines",
            "confidence",
            "first_at",
            "last_at",
            "count",
            "boot",
            "injected",
            "authorities",
            "part_facts",
        ]


class FindingSerializer(ConsequenceSerializer):
    node = serializers.CharField(source="node.hostname", read_only=True, default=None)
    consequences = ConsequenceSerializer(many=True, read_only=True)
    verdicts = VerdictSerializer(many=True, read_only=True)

    class Meta(ConsequenceSerializer.Meta):
        fields = [
            *ConsequenceSerializer.Meta.fields,
            "run",
            "incident",
            "node",
            "part",
            "parent",
            "family",
            "root",
            "rank",
            "ranks",
            "action",
            "engine_version",
            "catalog_version",
            "consequences",
            "verdicts",
        ]


class EvidenceSerializer(serializers.ModelSerializer):
    node = serializers.CharField(source="node.hostname", read_only=True, default=None)
    uploaded_by = serializers.CharField(source="uploaded_by.username", read_only=True, default=None)
    purged_at = serializers.DateTimeField(read_only=True)

    class Meta:
        model = Evidence
        fields = [
            "id",
            "sha256",
            "size",
            "stored_size",
            "name",
            "media",
            "incident",
            "node",
            "run",
            "probe",
            "captured_at",
            "uploaded_by",
            "redactions",
            "purged_at",
        ]


class GiveEvidence(serializers.Serializer):
    file = serializers.FileField(allow_empty_file=True)
