"""The door for alerts: keep the body, answer, understand later."""

import logging

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse, UnreadablePostError
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from incidents.actions import sources

log = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = "5"


@csrf_exempt
@require_http_methods(["POST", "PUT"])
def ingest(request: HttpRequest, secret: str, kind: str) -> JsonResponse:
    """202 once the body is durable; 404 for an unknown address; 503 with Retry-After when it could not be kept."""
    try:
        source = sources.find(secret, kind=kind)
        if source is None:
            return JsonResponse(
                {"detail": "No source has this address. `manage.py sources list` names them."}, status=404
            )
        delivery = sources.keep(source, _received(request), at=timezone.now())
    except UnreadablePostError:
        return JsonResponse({"detail": "The body ended before its announced length."}, status=400)
    except DatabaseError:
        # 503, never 429 or another 4xx: Alertmanager repeats after a 503 and gives the others up.
        log.exception("a delivery could not be kept")
        answer = JsonResponse({"detail": "The alert could not be stored; send it again."}, status=503)
        answer["Retry-After"] = RETRY_AFTER_SECONDS
        return answer
    return JsonResponse({"delivery": delivery.pk, "sha256": delivery.sha256}, status=202)


def _received(request: HttpRequest) -> sources.Received:
    limit = settings.INGEST_MAX_BYTES
    body = request.read(limit + 1)
    while request.read(1 << 20):
        pass  # read to the end, else the sender sees a broken connection instead of the answer
    return sources.Received(
        body[:limit],
        request.method or "",
        request.META.get("REMOTE_ADDR", ""),
        dict(request.headers),
        len(body) > limit,
    )
