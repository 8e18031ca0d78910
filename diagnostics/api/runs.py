from datetime import datetime
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from diagnostics import queries
from diagnostics.actions import runs, verifying
from diagnostics.api.serializers import RunSerializer, StartRun
from diagnostics.models import DiagnosticRun
from incidents.actions.rights import who
from incidents.lib.api import valid
from incidents.lib.errors import Invalid, Refused
from incidents.models import User
from incidents.queries import incidents_for, nodes_for


class RunFilter(django_filters.FilterSet):
    node = django_filters.CharFilter(field_name="node__hostname")

    class Meta:
        model = DiagnosticRun
        fields = ["incident", "purpose", "state"]


class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Diagnostic runs with their probes, newest first."""

    queryset = DiagnosticRun.objects.none()
    filterset_class = RunFilter
    serializer_class = RunSerializer

    def get_queryset(self) -> QuerySet[DiagnosticRun]:
        if getattr(self, "swagger_fake_view", False):
            return DiagnosticRun.objects.none()
        return queries.runs_for(who(self.request))

    @extend_schema(request=StartRun, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        """Start a run; an unfinished one of the same purpose is returned instead of a second."""
        run = _start(valid(StartRun, request), by=who(request), at=timezone.now())
        return Response(RunSerializer(self.get_queryset().get(pk=run.pk)).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str | None = None) -> Response:
        """Run and judge nothing more of it."""
        run = get_object_or_404(self.get_queryset(), pk=pk)
        runs.cancel(run, by=who(request), at=timezone.now())
        return Response(RunSerializer(self.get_queryset().get(pk=run.pk)).data)


def _start(data: dict[str, Any], *, by: User, at: datetime) -> DiagnosticRun:
    if "incident" in data:
        incident = incidents_for(by).filter(pk=data["incident"]).first()
        if incident is None:
            raise Invalid(_("There is no incident %(number)s.") % {"number": data["incident"]})
        if data["purpose"] == DiagnosticRun.Purpose.VERIFY:
            run = verifying.verify(incident, by=by, at=at)
            if run is None:
                raise Refused(
                    _("Nothing is to be verified by a run: start verifying first, and mind how the fault is proved.")
                )
            return run
        return runs.start(incident=incident, plan=data["plan"], by=by, at=at)
    node = nodes_for(by).filter(hostname=data.get("node", "").lower()).first()
    if node is None:
        raise Invalid(_("Name an 'incident', or a 'node' that is enrolled."))
    return runs.start(node=node, plan=data["plan"], by=by, at=at)
