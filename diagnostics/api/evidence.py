import django_filters
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from diagnostics import queries
from diagnostics.actions import evidence, uploads
from diagnostics.api.serializers import EvidenceSerializer, GiveEvidence
from diagnostics.models import Evidence
from incidents.actions.rights import who
from incidents.lib.api import valid
from incidents.lib.errors import Invalid
from incidents.queries import incidents_for


class EvidenceFilter(django_filters.FilterSet):
    node = django_filters.CharFilter(field_name="node__hostname")

    class Meta:
        model = Evidence
        fields = ["incident", "run", "probe", "sha256"]


class EvidenceViewSet(viewsets.ReadOnlyModelViewSet):
    """What probes read and people gave, as it is kept."""

    queryset = Evidence.objects.none()
    filterset_class = EvidenceFilter
    serializer_class = EvidenceSerializer

    def get_queryset(self) -> QuerySet[Evidence]:
        if getattr(self, "swagger_fake_view", False):
            return Evidence.objects.none()
        return queries.evidence_for(who(self.request))

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def download(self, request: Request, pk: str | None = None) -> HttpResponse:
        """The bytes, checked against their hash."""
        return attachment(get_object_or_404(self.get_queryset(), pk=pk))


class IncidentEvidenceView(APIView):
    """Give evidence of an incident: a log, what a tool printed, or an archive of such.

    An archive (tar, zip, gzip, zstd, xz, bzip2) is taken apart; each text in it becomes a piece of evidence of one run, of which the
    first is answered. What is no text is left out, and the run says so.
    """

    parser_classes = [MultiPartParser]

    @extend_schema(request=GiveEvidence, responses={201: EvidenceSerializer})
    def post(self, request: Request, pk: int) -> Response:
        incident = get_object_or_404(incidents_for(who(request)), pk=pk)
        file = valid(GiveEvidence, request)["file"]
        if file.size > settings.EVIDENCE_UPLOAD_MAX_BYTES:  # before it is read into memory
            raise Invalid(
                _("The file is too large; up to %(limit)d MiB are taken.")
                % {"limit": settings.EVIDENCE_UPLOAD_MAX_BYTES >> 20}
            )
        row = uploads.add_evidence(
            incident=incident, name=file.name or "", data=file.read(), by=who(request), at=timezone.now()
        )
        return Response(EvidenceSerializer(row).data, status=status.HTTP_201_CREATED)


def attachment(row: Evidence) -> HttpResponse:
    """Never shown by a browser as what it claims to be: evidence may hold anything."""
    answer = HttpResponse(evidence.read(row), content_type="application/octet-stream")
    answer["Content-Disposition"] = content_disposition_header(True, row.name)
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
