from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from knowledge.api.articles import ArticleViewSet, FaultSopView
from knowledge.api.checklists import ChecklistViewSet, IncidentChecklistsView
from knowledge.views import articles, checklists

router = SimpleRouter(trailing_slash=False)
router.register("articles", ArticleViewSet, basename="api-article")
router.register("checklists", ChecklistViewSet, basename="api-checklist")

api_patterns: list[URLPattern | URLResolver] = [
    *router.urls,
    path("faults/<str:code>/sop", FaultSopView.as_view(), name="api-fault-sop"),
    path("incidents/<int:pk>/checklists", IncidentChecklistsView.as_view(), name="api-incident-checklists"),
]
urlpatterns: list[URLPattern] = [
    path("sops/", articles.sop_list, name="sop_list"),
    path("sops/<slug:slug>/", articles.sop, name="sop"),
    path("faults/<str:code>/", articles.fault, name="fault"),
    path("incidents/<int:pk>/checklists", checklists.checklist_start, name="checklist_start"),
    path("incidents/<int:pk>/checklists/skip", checklists.checklist_skip, name="checklist_skip"),
    path("checklists/<int:pk>/steps/<str:key>", checklists.checklist_tick, name="checklist_tick"),
]
