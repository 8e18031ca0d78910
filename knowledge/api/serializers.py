from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from knowledge import queries
from knowledge.domain.route import StepState
from knowledge.models import ChecklistRun, Sop, SopRevision, Step, StepResult


class RevisionSerializer(serializers.ModelSerializer):
    slug = serializers.CharField(source="sop.slug", read_only=True)
    based_on = serializers.IntegerField(source="based_on.number", read_only=True, default=None)

    class Meta:
        model = SopRevision
        fields = [
            "id",
            "slug",
            "language",
            "number",
            "title",
            "content_sha256",
            "author_name",
            "created_at",
            "change_note",
            "based_on",
        ]


class StepSerializer(serializers.ModelSerializer):
    class Meta:
        model = Step
        fields = ["key", "position", "title", "type", "spec", "prose", "sha256"]


class RevisionDetailSerializer(RevisionSerializer):
    """A revision with its whole text and its steps."""

    steps = StepSerializer(many=True, read_only=True)

    class Meta(RevisionSerializer.Meta):
        fields = [*RevisionSerializer.Meta.fields, "body", "steps"]


class ArticleSerializer(serializers.ModelSerializer):
    """A SOP with the revision that is published in each of its languages."""

    faults: serializers.Field = serializers.SlugRelatedField("fault", source="fault_links", many=True, read_only=True)
    published = serializers.SerializerMethodField()

    class Meta:
        model = Sop
        fields = ["slug", "status", "owner", "source_language", "faults", "published"]

    def get_published(self, sop: Sop) -> list[dict]:
        rows = sorted(sop.publications.all(), key=lambda row: row.language)
        return RevisionSerializer([row.revision for row in rows], many=True).data  # type: ignore[return-value]


class ArticleDetailSerializer(ArticleSerializer):
    """A SOP with all its revisions, newest first."""

    revisions = serializers.SerializerMethodField()

    class Meta(ArticleSerializer.Meta):
        fields = [*ArticleSerializer.Meta.fields, "revisions"]

    def get_revisions(self, sop: Sop) -> list[dict]:
        rows = sop.revisions.select_related("sop", "based_on").defer("body").order_by("-created_at", "-id")
        return RevisionSerializer(rows, many=True).data  # type: ignore[return-value]


class StepResultSerializer(serializers.ModelSerializer):
    class Meta:
        model = StepResult
        fields = ["id", "step_key", "step_sha256", "state", "outcome", "note", "by_name", "at"]


class NextStepSerializer(serializers.ModelSerializer):
    """The step to do now; `answers` is what a decision may be answered with."""

    answers = serializers.SerializerMethodField()

    class Meta:
        model = Step
        fields = ["key", "position", "title", "type", "answers", "prose"]

    def get_answers(self, step: Step) -> list[str]:
        return list(step.spec.get("answers", {}))


class ChecklistSerializer(serializers.ModelSerializer):
    """A checklist with every tick, oldest first; the newest of a step counts. `next_step` is null once it has ended."""

    next_step = serializers.SerializerMethodField()
    revision = RevisionSerializer(read_only=True)
    results = StepResultSerializer(many=True, read_only=True)

    class Meta:
        model = ChecklistRun
        fields = [
            "id",
            "incident",
            "revision",
            "content_sha256",
            "state",
            "end",
            "skip_reason",
            "started_by_name",
            "started_at",
            "finished_at",
            "next_step",
            "results",
        ]

    @extend_schema_field(NextStepSerializer(allow_null=True))
    def get_next_step(self, run: ChecklistRun) -> dict | None:
        step = queries.next_step(run)
        return NextStepSerializer(step).data if step else None


class StartChecklist(serializers.Serializer):
    """Which SOP to work by; without one the first suggestion is taken."""

    slug = serializers.SlugField(required=False, default="")
    language = serializers.CharField(required=False, default="en")


class Tick(serializers.Serializer):
    """`note` is needed for failed and skipped, `answer` for a decision. `expected_latest`: the id of the result that was seen."""

    step = serializers.CharField()
    state = serializers.ChoiceField([state.value for state in StepState])
    answer = serializers.CharField(required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="")
    expected_latest = serializers.IntegerField(required=False, allow_null=True, default=None)


class Reason(serializers.Serializer):
    reason = serializers.CharField()
