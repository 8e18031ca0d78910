"""Carries news up: the pager takes due reactions and calls their consumers."""

import logging
from datetime import datetime, timedelta

from django.db.models import F, Q

from incidents import events
from incidents.models import Reaction

log = logging.getLogger(__name__)

BATCH = 50
LEASE = timedelta(minutes=2)
MAX_ATTEMPTS = 8
FIRST_PAUSE = timedelta(seconds=2)
DIED = f"It ended the pager {MAX_ATTEMPTS} times."


def react(*, at: datetime) -> int:
    """Take the due reactions, oldest first, and return how many were done. One that fails waits, longer each time, then is parked."""
    due = Reaction.objects.filter(done_at=None, parked_at=None, due_at__lte=at).filter(
        Q(lease_until=None) | Q(lease_until__lt=at)
    )
    ids = list(due.order_by("due_at", "id").values_list("id", flat=True)[:BATCH])
    return sum(_take(pk, at=at) for pk in ids)


def _take(pk: int, *, at: datetime) -> bool:
    claimed = (
        Reaction.objects.filter(pk=pk, done_at=None, parked_at=None)
        .filter(Q(lease_until=None) | Q(lease_until__lt=at))
        .update(lease_until=at + LEASE, attempts=F("attempts") + 1)
    )
    if not claimed:
        return False
    reaction = Reaction.objects.select_related("event").get(pk=pk)
    if reaction.attempts > MAX_ATTEMPTS:
        return _fail(reaction, DIED, at=at)
    consumer = events.consumer(reaction.event.kind, reaction.consumer)
    if consumer is None:
        return _fail(reaction, f"no consumer is called {reaction.consumer}", at=at)
    try:
        consumer(reaction.event, at)
    except Exception as error:
        log.exception("reaction %s to %s failed", reaction.consumer, reaction.event.kind)
        return _fail(reaction, f"{type(error).__name__}: {error}", at=at)
    reaction.done_at, reaction.lease_until = at, None
    reaction.save(update_fields=["done_at", "lease_until"])
    return True


def _fail(reaction: Reaction, why: str, *, at: datetime) -> bool:
    reaction.last_error = why[:2000]
    reaction.lease_until = None
    reaction.due_at = at + FIRST_PAUSE * 2 ** (reaction.attempts - 1)
    reaction.parked_at = at if reaction.attempts >= MAX_ATTEMPTS else None
    reaction.save(update_fields=["last_error", "lease_until", "due_at", "parked_at"])
    return False
