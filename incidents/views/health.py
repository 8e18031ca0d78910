"""`/healthz` says that the web process answers; `/readyz` says which parts are up."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from incidents import queries

STALE = timedelta(seconds=40)
PARTS = ("pager", "worker", "beat")


@dataclass(frozen=True)
class Part:
    """A part of Sickbay: `up`, and why not, or since when it is silent."""

    name: str
    up: bool
    detail: str = ""


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 if alerts can be taken and processed (database and pager), else 503; the body names every part."""
    parts = [_database()]
    if parts[0].up:
        parts += [*_by_heartbeat(at=timezone.now()), _broker()]
    up = {part.name: part.up for part in parts}
    ready = up.get("database", False) and up.get("pager", False)
    return JsonResponse({"ready": ready, "parts": [asdict(part) for part in parts]}, status=200 if ready else 503)


def degraded(*, at: datetime) -> list[str]:
    """For the banner: what does not go on at the moment, in words. Asks the database only, so that a page never waits for the broker."""
    return [SILENT[part.name]() for part in _by_heartbeat(at=at) if not part.up]


SILENT = {
    "pager": lambda: _("The pager is silent: alerts are kept, but nothing becomes an incident and nobody is paged."),
    "worker": lambda: _("The diagnostics worker is silent: runs wait, alerts and incidents go on."),
    "beat": lambda: _("The queue does not go round: timed work and diagnostic runs wait, alerts and incidents go on."),
}


def _by_heartbeat(*, at: datetime) -> list[Part]:
    seen = queries.heartbeats()
    return [_part(name, seen.get(name), at=at) for name in PARTS]


def _part(name: str, seen: datetime | None, *, at: datetime) -> Part:
    if seen is None:
        return Part(name, False, "no sign of life yet")
    return Part(name, at - seen < STALE, f"last sign of life {seen.isoformat(timespec='seconds')}")


def _database() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return Part("database", False, str(error))
    return Part("database", True, connection.vendor)


def _broker() -> Part:
    try:
        client = redis.Redis.from_url(settings.BROKER.redis_url, socket_connect_timeout=0.5, socket_timeout=0.5)
        try:
            client.ping()
        finally:
            client.close()
    except (redis.RedisError, OSError, ValueError) as error:
        return Part("broker", False, str(error))
    return Part("broker", True, "embedded" if settings.BROKER.embedded else "")
