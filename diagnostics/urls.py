from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from diagnostics.api.evidence import EvidenceViewSet, IncidentEvidenceView
from diagnostics.api.findings import FindingViewSet
from diagnostics.api.runs import RunViewSet
from diagnostics.views import evidence, findings, runs

router = SimpleRouter(trailing_slash=False)
router.register("runs", RunViewSet, basename="api-run")
router.register("findings", FindingViewSet, basename="api-finding")
router.register("evidence", EvidenceViewSet, basename="api-evidence")

api_patterns: list[URLPattern | URLResolver] = [
    *router.urls,
    path("incidents/<int:pk>/evidence", IncidentEvidenceView.as_view(), name="api-incident-evidence"),
]
urlpatterns: list[URLPattern] = [
    path("runs/<int:pk>/", runs.run, name="run"),
    path("runs/<int:pk>/live", runs.run_live, name="run_live"),
    path("runs/<int:pk>/cancel", runs.run_cancel, name="run_cancel"),
    path("evidence/<int:pk>/", evidence.evidence, name="evidence"),
    path("evidence/<int:pk>/download", evidence.evidence_download, name="evidence_download"),
    path("incidents/<int:pk>/diagnose", runs.incident_diagnose, name="incident_diagnose"),
    path("incidents/<int:pk>/evidence", evidence.incident_evidence, name="incident_evidence"),
    path("nodes/<int:pk>/diagnose", runs.node_diagnose, name="node_diagnose"),
    *(
        path(f"findings/<int:pk>/{verb}", findings.finding_say, {"verb": verb}, name=f"finding_{verb}")
        for verb in findings.SAY
    ),
]
