from typing import Any

import django_filters
from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request

from incidents.lib.errors import Invalid

OF_EVERY_LIST = {"cursor", "page_size", "format"}
TRUTHS = {"true", "false", "1", "0", ""}


class StrictFilters(DjangoFilterBackend):
    """A filter that does not exist, or a truth that is none, is refused: a typing error must not look like "everything"."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: Any) -> QuerySet:
        filterset = self.get_filterset(request, queryset, view)
        known = filterset.filters if filterset else {}
        for name, value in request.query_params.items():
            if name not in known and name not in OF_EVERY_LIST:
                names = ", ".join(sorted({*known, *OF_EVERY_LIST}))
                raise Invalid(f"There is no filter {name[:80]!r}. Filters: {names}.")
            if isinstance(known.get(name), django_filters.BooleanFilter) and str(value).lower() not in TRUTHS:
                raise Invalid(f"{name} is true or false, not {value[:80]!r}.")
        return super().filter_queryset(request, queryset, view)
