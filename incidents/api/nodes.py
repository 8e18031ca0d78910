from django.db.models import QuerySet
from rest_framework import viewsets

from incidents import queries
from incidents.actions.rights import who
from incidents.api.serializers import NodeDetailSerializer, NodeSerializer
from incidents.models import Node


class NodeViewSet(viewsets.ReadOnlyModelViewSet):
    """Nodes with their parts."""

    queryset = Node.objects.none()
    filterset_fields = ["hostname", "life_cycle", "is_discovered", "cluster__name"]
    serializer_class = NodeSerializer

    def get_queryset(self) -> QuerySet[Node]:
        if getattr(self, "swagger_fake_view", False):
            return Node.objects.none()
        rows = queries.nodes_for(who(self.request))
        return rows if self.action == "list" else rows.prefetch_related("parts")

    def get_serializer_class(self) -> type[NodeSerializer]:
        return NodeSerializer if self.action == "list" else NodeDetailSerializer
