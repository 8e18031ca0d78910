from collections.abc import Callable
from datetime import datetime
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import queries
from incidents.actions import causes, fleet, lifecycle, tiers
from incidents.actions.rights import who
from incidents.api.serializers import (
    IncidentDetailSerializer,
    IncidentSerializer,
    OpenIncident,
)
from incidents.domain.workflow import OPEN_STATES
from incidents.lib.api import valid
from incidents.lib.errors import Invalid
from incidents.models import Incident, User


class IncidentFilter(django_filters.FilterSet):
    is_open = django_filters.BooleanFilter(method="by_open")
    node = django_filters.CharFilter(field_name="node__hostname")
    declared_after = django_filters.IsoDateTimeFilter(field_name="declared_at", lookup_expr="gte")
    declared_before = django_filters.IsoDateTimeFilter(field_name="declared_at", lookup_expr="lt")

    class Meta:
        model = Incident
        fields = ["state", "severity", "fault", "family"]

    def by_open(self, rows: QuerySet[Incident], name: str, value: bool) -> QuerySet[Incident]:
        return rows.filter(state__in=OPEN_STATES) if value else rows.exclude(state__in=OPEN_STATES)


Verb = Callable[[Incident, User, datetime, dict[str, Any]], object]

VERBS: dict[str, Verb] = {
    "acknowledge": lambda one, by, at, data: lifecycle.acknowledge(one, by=by, at=at),
    "unacknowledge": lambda one, by, at, data: lifecycle.unacknowledge(one, by=by, at=at, text=data["text"]),
    "take": lambda one, by, at, data: lifecycle.assign(one, to=by, by=by, at=at),
    "note": lambda one, by, at, data: lifecycle.add_note(one, text=data["text"], by=by, at=at),
    "mitigate": lambda one, by, at, data: lifecycle.mitigate(one, by=by, at=at, text=data["text"]),
    "start_repair": lambda one, by, at, data: lifecycle.start_repair(one, by=by, at=at, text=data["text"]),
    "wait": lambda one, by, at, data: lifecycle.wait_for(one, reason=data["reason"], note=data["text"], by=by, at=at),
    "resume": lambda one, by, at, data: lifecycle.resume(one, by=by, at=at),
    "start_verifying": lambda one, by, at, data: lifecycle.start_verifying(one, by=by, at=at),
    "vouch": lambda one, by, at, data: lifecycle.vouch(one, note=data["text"], by=by, at=at),
    "restore": lambda one, by, at, data: lifecycle.restore(one, by=by, at=at),
    "set_cause": lambda one, by, at, data: causes.set_cause(
        one, fault_code=data["fault"], note=data["text"], by=by, at=at
    ),
    "set_severity": lambda one, by, at, data: tiers.set_severity(
        one, tier=data["severity"], reason=data["text"], by=by, at=at
    ),
    "close": lambda one, by, at, data: lifecycle.close(
        one, by=by, at=at, disposition=data["disposition"], note=data["text"]
    ),
    "reopen": lambda one, by, at, data: lifecycle.reopen(one, by=by, at=at, text=data["text"]),
    "merge": lambda one, by, at, data: causes.merge(one, into=_other(data, by), reason=data["text"], by=by, at=at),
}


class MoveIncident(serializers.Serializer):
    """A move and what it needs: `text` for a note or a reason, `fault` for a cause, `disposition` for a closure without a repair."""

    move = serializers.ChoiceField(
        list(VERBS), error_messages={"invalid_choice": f"'{{input}}' is no move. Moves: {', '.join(VERBS)}."}
    )
    text = serializers.CharField(required=False, allow_blank=True, default="")
    fault = serializers.CharField(required=False, default="")
    severity = serializers.CharField(required=False, default="")
    disposition = serializers.CharField(required=False, default="")
    reason = serializers.CharField(required=False, default="")
    into = serializers.IntegerField(required=False, help_text="id of the incident to merge into")


def _other(data: dict[str, Any], by: User) -> Incident:
    other = queries.incidents_for(by).filter(pk=data.get("into") or 0).first()
    if other is None:
        raise Invalid("Give the id of the incident to merge into as 'into'.")
    return other


class IncidentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Incidents, newest first."""

    queryset = Incident.objects.none()
    filterset_class = IncidentFilter
    serializer_class = IncidentSerializer

    def get_queryset(self) -> QuerySet[Incident]:
        if getattr(self, "swagger_fake_view", False):
            return Incident.objects.none()
        rows = queries.incidents_for(who(self.request))
        return rows.prefetch_related("parts", "timeline") if self.action != "list" else rows

    def get_serializer_class(self) -> type[IncidentSerializer]:
        return IncidentSerializer if self.action == "list" else IncidentDetailSerializer

    @extend_schema(request=OpenIncident, responses={201: IncidentDetailSerializer, 200: IncidentDetailSerializer})
    def create(self, request: Request) -> Response:
        """Open an incident on a node; 200 with the open one if there is one of the same fault family."""
        data = valid(OpenIncident, request)
        node = fleet.find_node(data["node"])
        if node is None or not queries.nodes_for(who(request)).filter(pk=node.pk).exists():
            raise Invalid(f"There is no node {data['node'][:80]!r}. Enrol it first, or check the name.")
        incident, is_new = lifecycle.open_incident(
            lifecycle.Subject(node=node),
            data["fault"],
            by=who(request),
            at=timezone.now(),
            tier=data.get("severity", ""),
            text=data["text"],
        )
        return Response(
            IncidentDetailSerializer(incident).data, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        )

    @extend_schema(request=MoveIncident, responses=IncidentDetailSerializer)
    @action(detail=True, methods=["post"], url_path="move")
    def move(self, request: Request, pk: str | None = None) -> Response:
        """Do one thing to the incident: acknowledge, mitigate, close ... 409 says what is missing."""
        incident = get_object_or_404(self.get_queryset(), pk=pk)
        data = valid(MoveIncident, request)
        VERBS[data["move"]](incident, who(request), timezone.now(), data)
        return Response(IncidentDetailSerializer(self.get_queryset().get(pk=incident.pk)).data)
