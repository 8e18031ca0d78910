from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from incidents import queries
from incidents.actions.rights import who
from incidents.lib.errors import Invalid


class MonthView(APIView):
    """The figures of a month, each with the ids of its incidents; durations in seconds."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, year: int, month: int) -> Response:
        if not (1970 <= year <= 9998 and 1 <= month <= 12):
            raise Invalid("Give a month as 2026-11.")
        start = datetime(year, month, 1, tzinfo=UTC)
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        figures = queries.month_of(who(request), start=start, end=end, as_of=timezone.now())
        answer = _plain(asdict(figures))
        answer["recurrence"]["share"] = figures.recurrence.share
        return Response(answer)


def _plain(value: Any) -> Any:
    """Durations as seconds; DRF writes the rest by itself."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.total_seconds() if hasattr(value, "total_seconds") else value
