from django.urls import path
from rest_framework.routers import SimpleRouter

from incidents.api.incidents import IncidentViewSet
from incidents.api.ingest import ingest
from incidents.api.months import MonthView
from incidents.api.nodes import NodeViewSet

router = SimpleRouter(trailing_slash=False)
router.register("incidents", IncidentViewSet, basename="api-incident")
router.register("nodes", NodeViewSet, basename="api-node")

api_patterns = [*router.urls, path("months/<int:year>-<int:month>", MonthView.as_view(), name="api-month")]
ingest_patterns = [path("ingest/<str:secret>/<slug:kind>", ingest, name="ingest")]
