from django.contrib import admin
from django.urls import include, path
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularAPIView

from config.views import ApiBrowser, api_not_found
from diagnostics.urls import api_patterns as diagnostics_api
from incidents.api.urls import api_patterns as incidents_api
from incidents.api.urls import ingest_patterns
from knowledge.urls import api_patterns as knowledge_api

urlpatterns = [
    path("", include("incidents.urls")),
    path("", include("diagnostics.urls")),
    path("", include("knowledge.urls")),
    path("", include(ingest_patterns)),
    path("api/v1/", include([*incidents_api, *diagnostics_api, *knowledge_api])),
    path("api/v1/<path:rest>", api_not_found),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/", ApiBrowser.as_view(url_name="schema"), name="api_browser"),
    path("language", set_language, name="set_language"),
    path("admin/", admin.site.urls),
]
