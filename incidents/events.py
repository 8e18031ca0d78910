"""What can happen, and who reacts: an event is a row of the transaction in which it happens, a reaction is a row per consumer."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction

from incidents.lib import doorbell
from incidents.models import Event, Reaction

Consumer = Callable[[Event, datetime], None]

KINDS = {
    "incident_opened": "An incident was opened. payload: incident",
    "incident_changed": "An incident moved to another state. payload: incident, move, state",
    "incident_reclassified": "An incident got another fault. payload: incident, fault",
    "incident_merged": "An incident was merged into another. payload: incident, into",
    "incident_closed": "An incident was closed. payload: incident",
    "incident_reopened": "An incident was opened again. payload: incident",
}
_consumers: dict[str, dict[str, Consumer]] = {}


def declare(kind: str, meaning: str) -> None:
    """An upper app announces a kind of its own."""
    KINDS[kind] = meaning


def on(kind: str, name: str) -> Callable[[Consumer], Consumer]:
    """Register a consumer, as a decorator. `name` is written into the reaction rows and must not change."""

    def register(consumer: Consumer) -> Consumer:
        if kind not in KINDS:
            raise ValueError(f"{name} waits for {kind!r}, which nobody announces.")
        _consumers.setdefault(kind, {})[name] = consumer
        return consumer

    return register


def consumer(kind: str, name: str) -> Consumer | None:
    return _consumers.get(kind, {}).get(name)


def announce(kind: str, *, at: datetime, **payload: Any) -> Event:
    """Write the event and a reaction for each consumer, and ring the pager after the commit. Call it inside a transaction."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not declared in KINDS.")
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"{kind!r} must be announced inside the transaction of its cause.")
    event = Event.objects.create(kind=kind, at=at, payload=payload)
    Reaction.objects.bulk_create(Reaction(event=event, consumer=name, due_at=at) for name in _consumers.get(kind, {}))
    transaction.on_commit(doorbell.ring)
    return event
