from datetime import timedelta

import pytest
from django.db import transaction

from incidents import events
from incidents.actions import reactions
from incidents.models import Event, Reaction

pytestmark = pytest.mark.django_db


@pytest.fixture
def heard(monkeypatch):
    """A consumer of its own that remembers, and fails as often as it is told."""
    calls, failures = [], []

    def listen(event, at):
        if failures:
            raise failures.pop()
        calls.append(event.payload["incident"])

    monkeypatch.setattr(events, "_consumers", {"incident_opened": {"listener": listen}})
    return calls, failures


def announce(now, incident=1):
    with transaction.atomic():
        return events.announce("incident_opened", at=now, incident=incident)


def test_each_consumer_hears_of_an_event_once(heard, now):
    announce(now)
    for _round in range(3):
        reactions.react(at=now)
    assert heard[0] == [1]


def test_an_event_of_a_rolled_back_transaction_never_happened(heard, now):
    with transaction.atomic():
        events.announce("incident_opened", at=now, incident=1)
        transaction.set_rollback(True)
    reactions.react(at=now)
    assert heard[0] == []
    assert not Event.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_event_outside_a_transaction_is_a_mistake(now):
    with pytest.raises(RuntimeError, match="inside the transaction"):
        events.announce("incident_opened", at=now, incident=1)


def test_an_undeclared_event_is_a_mistake(now):
    with pytest.raises(ValueError, match="not declared"), transaction.atomic():
        events.announce("sky_fell", at=now)


def test_a_failing_reaction_is_tried_again_later_and_the_others_go_on(heard, now):
    heard[1].append(RuntimeError("once"))
    announce(now, 1)
    announce(now, 2)
    reactions.react(at=now)
    assert heard[0] == [2]
    reactions.react(at=now + timedelta(minutes=1))
    assert heard[0] == [2, 1]


def test_a_reaction_that_always_fails_is_parked_with_its_reason(heard, now):
    heard[1].extend(RuntimeError("never") for _ in range(100))
    announce(now)
    for hour in range(100):
        reactions.react(at=now + timedelta(hours=hour))
    row = Reaction.objects.get()
    assert row.parked_at is not None
    assert row.attempts == reactions.MAX_ATTEMPTS
    assert "never" in row.last_error


def test_a_reaction_that_ends_the_pager_again_and_again_is_parked(heard, now):
    announce(now)
    Reaction.objects.update(attempts=reactions.MAX_ATTEMPTS)
    reactions.react(at=now)
    assert Reaction.objects.get().parked_at == now
    assert heard[0] == []


def test_a_reaction_that_a_killed_pager_held_is_taken_up_after_its_lease(heard, now):
    announce(now)
    Reaction.objects.update(lease_until=now + reactions.LEASE)
    reactions.react(at=now)
    assert heard[0] == []
    reactions.react(at=now + reactions.LEASE + timedelta(seconds=1))
    assert heard[0] == [1]
