"""Kept bodies: taken in order, understood, brought into the books; parked if that fails too often; replayed."""

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from incidents.actions import alerts, journal
from incidents.actions.rights import Actor, require
from incidents.lib import doorbell
from incidents.lib.errors import Refused
from incidents.models import Delivery
from incidents.payloads import PARSERS, NormalAlert, NotUnderstood, Payload

log = logging.getLogger(__name__)

BATCH = 50
PIECE = 20  # members per transaction: between two of them others can write; taking one again changes nothing
LEASE = timedelta(minutes=2)
MAX_ATTEMPTS = 5
DIED = f"Processing it ended the pager {MAX_ATTEMPTS} times."
# These pass: the whole delivery is tried again. What else goes wrong is the fault of one member.
PASSING = (OperationalError, InterfaceError, IntegrityError)


def process_waiting(*, at: datetime) -> int:
    """Take the waiting deliveries, oldest first; return how many were taken. One that fails waits, then is parked; others go on."""
    due = Delivery.objects.filter(state=Delivery.State.WAITING, due_at__lte=at).filter(
        Q(lease_until=None) | Q(lease_until__lt=at)
    )
    ids = list(due.order_by("id").values_list("id", flat=True)[:BATCH])
    return sum(_take(pk, at=at) for pk in ids)


def _take(pk: int, *, at: datetime) -> bool:
    claimed = (
        Delivery.objects.filter(pk=pk, state=Delivery.State.WAITING)
        .filter(Q(lease_until=None) | Q(lease_until__lt=at))
        .update(lease_until=at + LEASE, attempts=F("attempts") + 1)
    )
    if not claimed:
        return False
    delivery = Delivery.objects.select_related("source__team", "source__cluster").get(pk=pk)
    if delivery.attempts > MAX_ATTEMPTS:
        _park(delivery, DIED, at=at)
        return True
    try:
        _process(delivery, at=at)
    except Exception as error:
        log.exception("delivery %s could not be processed", pk)
        _fail(delivery, f"{type(error).__name__}: {error}", at=at)
    return True


def _fail(delivery: Delivery, why: str, *, at: datetime) -> None:
    if delivery.attempts >= MAX_ATTEMPTS:
        _park(delivery, why, at=at)
        return
    pause = timedelta(seconds=2**delivery.attempts)
    Delivery.objects.filter(pk=delivery.pk).update(lease_until=None, due_at=at + pause, last_error=why[:2000])


def _park(delivery: Delivery, why: str, *, at: datetime) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        lease_until=None, state=Delivery.State.PARKED, parked_at=at, last_error=why[:2000]
    )


def _process(delivery: Delivery, *, at: datetime) -> None:
    try:
        payload = understand(delivery)
    except NotUnderstood as error:
        _finish(delivery, Delivery.State.NOT_UNDERSTOOD, at=at, error=str(error))
        return
    desk, members = alerts.Desk.of(delivery, at=at), in_order(payload)
    fates: Counter[str] = Counter()
    problems = list(payload.problems)
    for start in range(0, len(members), PIECE):
        with transaction.atomic():
            fates += _apply(members[start : start + PIECE], desk, problems)
    summary = {
        "fates": dict(fates),
        "truncated": payload.truncated,
        "alerts": sum(not one.is_heartbeat for one in payload.alerts),
    }
    state = Delivery.State.NOT_UNDERSTOOD if problems else Delivery.State.PROCESSED
    _finish(delivery, state, at=at, error="\n".join(problems), summary=summary)


def _apply(members: Sequence[NormalAlert], desk: alerts.Desk, problems: list[str]) -> Counter[str]:
    """Each member by itself: one that cannot be brought into the books does not take the others with it."""
    fates: Counter[str] = Counter()
    for alert in members:
        try:
            with transaction.atomic():
                fates[alerts.take(alert, desk)] += 1
        except PASSING:
            raise
        except Exception as error:
            log.exception("an alert of delivery %s could not be taken", desk.delivery.pk)
            problems.append(f"{alert.name}: {type(error).__name__}: {error}"[:300])
    return fates


def understand(delivery: Delivery) -> Payload:
    """The alerts of the body; raises `NotUnderstood` with the reason."""
    if delivery.is_cut:
        raise NotUnderstood(f"The body was longer than the limit; its first {delivery.size} bytes are kept.")
    parser = PARSERS.get(delivery.source.kind)
    if parser is None:
        raise NotUnderstood(f"No parser is called {delivery.source.kind!r}. Known: {', '.join(PARSERS)}.")
    return parser(bytes(delivery.body))


def in_order(payload: Payload) -> list[NormalAlert]:
    """The members in an order that does not depend on that of the body: by alert, then by time, firing before cleared."""
    return sorted(
        payload.alerts,
        key=lambda one: (one.fingerprint, one.starts_at.timestamp() if one.starts_at else 0, not one.firing),
    )


def _finish(delivery: Delivery, state: str, *, at: datetime, error: str = "", summary: dict | None = None) -> None:
    delivery.state, delivery.done_at, delivery.lease_until = state, at, None
    delivery.last_error, delivery.summary = error[:2000], summary or {}
    delivery.save(update_fields=["state", "done_at", "lease_until", "last_error", "summary"])


def replay(delivery: Delivery, *, by: Actor, at: datetime) -> None:
    """Have a kept body processed again, for example after a mapping was mended. What is in the books already stays as it is."""
    require(by, "delivery.replay", delivery.source)
    with transaction.atomic():
        row = Delivery.objects.select_for_update().get(pk=delivery.pk)
        if row.is_cut:
            raise Refused(
                _("The body was longer than the limit and only its beginning is kept; it cannot be replayed.")
            )
        row.state, row.due_at, row.attempts, row.parked_at, row.done_at = Delivery.State.WAITING, at, 0, None, None
        row.save(update_fields=["state", "due_at", "attempts", "parked_at", "done_at"])
        journal.audit(row, "delivery.replay", by=by, at=at)
        transaction.on_commit(doorbell.ring)
