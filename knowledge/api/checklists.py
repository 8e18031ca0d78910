from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from incidents.actions.rights import who
from incidents.lib.api import valid
from incidents.lib.errors import Invalid
from incidents.models import Incident
from incidents.queries import incidents_for
from knowledge import queries
from knowledge.actions import checklists
from knowledge.api.serializers import ChecklistSerializer, Reason, StartChecklist, Tick
from knowledge.models import ChecklistRun, SopRevision


class IncidentChecklistsView(APIView):
    """The checklists of an incident."""

    @extend_schema(
        operation_id="incident_checklist_start", request=StartChecklist, responses={201: ChecklistSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Start the checklist of a SOP, or get the one that is open for it."""
        incident = get_object_or_404(incidents_for(who(request)), pk=pk)
        data = valid(StartChecklist, request)
        run = checklists.start(incident, _revision(incident, **data), by=who(request), at=timezone.now())
        return Response(ChecklistSerializer(run).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="incident_checklist_skip", request=Reason, responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Say why no checklist is used; what is open is left with that reason."""
        incident = get_object_or_404(incidents_for(who(request)), pk=pk)
        checklists.explain_skip(incident, reason=valid(Reason, request)["reason"], by=who(request), at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def _revision(incident: Incident, *, slug: str, language: str) -> SopRevision:
    for suggestion in queries.suggested(incident, language):
        if slug in ("", suggestion.slug):
            return suggestion.revision
    chosen = queries.published(slug, language) if slug else None
    if chosen is None:
        raise Invalid("No SOP is suggested for this incident; give the slug of a published one.")
    return chosen


class ChecklistViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Checklists of incidents, newest first."""

    queryset = ChecklistRun.objects.none()
    serializer_class = ChecklistSerializer
    filterset_fields = ["incident", "state"]

    def get_queryset(self) -> QuerySet[ChecklistRun]:
        if getattr(self, "swagger_fake_view", False):
            return ChecklistRun.objects.none()
        seen = ChecklistRun.objects.filter(incident__in=incidents_for(who(self.request)))
        return seen.select_related("incident", "revision__sop", "revision__based_on").prefetch_related(
            "results", "revision__steps"
        )

    @extend_schema(request=Tick, responses=ChecklistSerializer)
    @action(detail=True, methods=["post"])
    def tick(self, request: Request, pk: str | None = None) -> Response:
        """Say what became of a step. 409 if somebody else ticked it since `expected_latest`."""
        run = self.get_object()
        data = valid(Tick, request)
        checklists.tick(run, data.pop("step"), by=who(request), at=timezone.now(), **data)
        return Response(ChecklistSerializer(self.get_object()).data)

    @extend_schema(request=Reason, responses=ChecklistSerializer)
    @action(detail=True, methods=["post"])
    def abandon(self, request: Request, pk: str | None = None) -> Response:
        """Leave a checklist before its end."""
        run = self.get_object()
        checklists.abandon(run, reason=valid(Reason, request)["reason"], by=who(request), at=timezone.now())
        return Response(ChecklistSerializer(self.get_object()).data)
