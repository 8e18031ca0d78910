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
DRAIN_BYTES = 256 << 20


@csrf_exempt
@require_http_methods(["POST", "PUT"])
def ingest(request: HttpRequest, secret: str, kind: str) -> JsonResponse:
    """202 once the whole body is durable; 404 for an unknown address; 400 or 408 for a body that did not come whole;
    503 with Retry-After when it could not be kept."""
    try:
        source = sources.find(secret, kind=kind)
        if source is None:
            return JsonResponse(
                {"detail": "No source has this address. `manage.py sources list` names them."}, status=404
            )
        delivery = sources.keep(source, _received(request), at=timezone.now())
    except Incomplete as error:
        return JsonResponse({"detail": str(error)}, status=error.status)
    except DatabaseError:
        # 503, never 429 or another 4xx: Alertmanager repeats after a 503 and gives the others up.
        log.exception("a delivery could not be kept")
        answer = JsonResponse({"detail": "The alert could not be stored; send it again."}, status=503)
        answer["Retry-After"] = RETRY_AFTER_SECONDS
        return answer
    return JsonResponse({"delivery": delivery.pk, "sha256": delivery.sha256}, status=202)


class Incomplete(Exception):
    """The body did not come whole; `status` says whose fault it is."""

    def __init__(self, status: int, detail: str) -> None:
        self.status = status
        super().__init__(detail)


def _received(request: HttpRequest) -> sources.Received:
    limit = settings.INGEST_MAX_BYTES
    body, length = _read(request, limit)
    if length < int(request.META.get("CONTENT_LENGTH") or 0):
        raise Incomplete(400, "The body ended before its announced length.")
    address = request.META.get("REMOTE_ADDR", "")
    return sources.Received(body[:limit], request.method or "", address, dict(request.headers), length > limit)


def _read(request: HttpRequest, limit: int) -> tuple[bytes, int]:
    """The beginning of the body and the length of all of it.

    It is read to its end, else the sender sees a broken connection instead of the answer. Django takes a body without an announced
    length for an empty one: a chunked body is read from the server's own stream.
    """
    is_chunked = bool(request.META.get("HTTP_TRANSFER_ENCODING"))
    stream = request.environ["wsgi.input"] if is_chunked else request  # type: ignore[attr-defined]
    try:
        body = stream.read(limit + 1)
        length = len(body)
        while length < DRAIN_BYTES and (more := stream.read(1 << 20)):
            length += len(more)
    except BlockingIOError as error:
        raise Incomplete(408, "The body did not go on coming.") from error
    except (OSError, UnreadablePostError) as error:  # the server's errors about chunks are OSErrors too
        slow = isinstance(error.__cause__ or error.__context__, BlockingIOError)
        raise Incomplete(408 if slow else 400, "The body could not be read to its end.") from error
    return body, length
