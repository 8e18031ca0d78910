import django_filters
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_control
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from incidents.actions.rights import who
from knowledge import queries
from knowledge.api.serializers import ArticleDetailSerializer, ArticleSerializer, RevisionDetailSerializer
from knowledge.models import Publication, Sop, SopRevision

REVISION = r"revisions/(?P<language>[a-z-]{2,10})/(?P<number>[0-9]{1,6})"


class ArticleFilter(django_filters.FilterSet):
    fault = django_filters.CharFilter(field_name="fault_links__fault")
    language = django_filters.CharFilter(field_name="publications__language")

    class Meta:
        model = Sop
        fields = ["status"]


class ArticleViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """SOPs; `?fault=` those of a fault, `?language=` those published in a language."""

    queryset = Sop.objects.none()
    filterset_class = ArticleFilter
    lookup_field = "slug"
    lookup_value_regex = "[a-z0-9-]+"

    def get_queryset(self) -> QuerySet[Sop]:
        if getattr(self, "swagger_fake_view", False):
            return Sop.objects.none()
        published = Publication.objects.select_related("revision__sop", "revision__based_on").defer(
            "revision__body", "revision__based_on__body"
        )
        return queries.sops_for(who(self.request)).prefetch_related("fault_links", Prefetch("publications", published))

    def get_serializer_class(self) -> type[ArticleSerializer]:
        return ArticleSerializer if self.action == "list" else ArticleDetailSerializer

    def _revision(self, slug: str | None, language: str, number: str) -> SopRevision:
        rows = SopRevision.objects.filter(sop__in=queries.sops_for(who(self.request))).select_related("sop", "based_on")
        return get_object_or_404(rows, sop__slug=slug, language=language, number=int(number))

    @extend_schema(responses=RevisionDetailSerializer)
    @action(detail=True, url_path=REVISION)
    def revision(self, request: Request, language: str, number: str, slug: str | None = None) -> Response:
        """One revision with its text and its steps. It never changes."""
        return Response(RevisionDetailSerializer(self._revision(slug, language, number)).data)

    @extend_schema(responses={(200, "text/markdown"): OpenApiTypes.STR})
    @method_decorator(cache_control(private=True, max_age=86400, immutable=True))
    @action(detail=True, url_path=f"{REVISION}/raw")
    def raw(self, request: Request, language: str, number: str, slug: str | None = None) -> HttpResponse:
        """The Markdown of a revision, byte for byte; its SHA-256 is the ETag."""
        revision = self._revision(slug, language, number)
        name = f"{revision.sop.slug}.{revision.language}.r{revision.number}.md"
        return HttpResponse(
            revision.body.encode(),
            content_type="text/markdown; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "X-Content-Type-Options": "nosniff",
                "ETag": f'"{revision.content_sha256}"',
            },
        )


class FaultSopView(APIView):
    """The SOP of a fault."""

    @extend_schema(
        operation_id="fault_sop",
        responses=RevisionDetailSerializer,
        parameters=[
            OpenApiParameter("language", str, description="en or zh-hans; the source language where it is not there")
        ],
    )
    def get(self, request: Request, code: str) -> Response:
        """The published revision for a fault; 400 for an unknown code, 404 where no SOP treats it yet."""
        revision = queries.sop_of_fault(code, request.query_params.get("language", "en"))
        if revision is None or not queries.sops_for(who(request)).filter(pk=revision.sop_id).exists():
            return Response({"detail": f"No SOP is published for {code} yet."}, status=404)
        return Response(RevisionDetailSerializer(revision).data)
