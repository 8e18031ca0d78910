"""What every page shows besides its own matter."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from incidents import queries
from incidents.views import health


def rail(request: HttpRequest) -> dict[str, Any]:
    """Counts of the rail and the parts of Sickbay that are down; nothing for those who are not signed in."""
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {}
    return {
        "rail": {
            "open_incidents": sum(row.count for row in queries.open_by_tier(request.user)),
            "inbox": queries.deliveries_in_need(request.user),
        },
        "degraded": health.degraded(at=timezone.now()),
    }
