from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from knowledge.api.articles import ArticleViewSet, FaultSopView
from knowledge.api.checklists import ChecklistViewSet, IncidentChecklistsView

router = SimpleRouter(trailing_slash=False)
router.register("articles", ArticleViewSet, basename="api-article")
router.register("checklists", ChecklistViewSet, basename="api-checklist")

api_patterns: list[URLPattern | URLResolver] = [
    *router.urls,
    path("faults/<str:code>/sop", FaultSopView.as_view(), name="api-fault-sop"),
    path("incidents/<int:pk>/checklists", IncidentChecklistsView.as_view(), name="api-incident-checklists"),
]
urlpatterns: list[URLPattern] = []
