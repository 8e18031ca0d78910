import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from diagnostics import queries
from diagnostics.actions import findings
from diagnostics.api.serializers import FindingSerializer, SayVerdict
from diagnostics.models import Finding
from incidents.actions.rights import who
from incidents.lib.api import valid


class FindingFilter(django_filters.FilterSet):
    node = django_filters.CharFilter(field_name="node__hostname")

    class Meta:
        model = Finding
        fields = ["incident", "run", "fault", "family", "root", "severity"]


class FindingViewSet(viewsets.ReadOnlyModelViewSet):
    """What the engine found, with the lines that prove it; `?root=true` leaves out what only followed."""

    queryset = Finding.objects.none()
    filterset_class = FindingFilter
    serializer_class = FindingSerializer

    def get_queryset(self) -> QuerySet[Finding]:
        if getattr(self, "swagger_fake_view", False):
            return Finding.objects.none()
        return queries.findings_for(who(self.request))

    @extend_schema(request=SayVerdict, responses=FindingSerializer)
    @action(detail=True, methods=["post"])
    def verdict(self, request: Request, pk: str | None = None) -> Response:
        """Confirm the finding, which makes it the cause of the incident, or reject it with a note."""
        finding = get_object_or_404(self.get_queryset(), pk=pk)
        data = valid(SayVerdict, request)
        say = findings.confirm if data["confirmed"] else findings.reject
        say(finding, by=who(request), at=timezone.now(), note=data["note"])
        return Response(FindingSerializer(self.get_queryset().get(pk=finding.pk)).data)
