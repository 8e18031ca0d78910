"""The pager goes on whatever happens to one of its jobs."""

import threading
import time

import pytest
from django.db import OperationalError

from config import pager
from incidents.models import Heartbeat


def failing(error, calls):
    def act(*, at):
        calls.append(at)
        raise error

    return act


def test_a_job_that_fails_rests_and_the_others_go_on():
    stop, calls, done = threading.Event(), [], []

    def work(*, at):
        done.append(at)
        if len(done) >= 5:
            stop.set()
        return 1

    jobs = [pager.Job("broken", failing(ValueError("no"), calls)), pager.Job("well", work)]
    pager.loop(jobs, stop, wait=stop.wait, every_seconds=0.01)
    assert (len(calls), len(done)) == (1, 5)


def test_a_job_rests_longer_each_time_and_is_forgiven_when_it_works():
    job = pager.Job("broken", failing(ValueError("no"), []))
    pauses = []
    for _try in range(8):
        job.resting_until = 0
        pager.turn(job)
        pauses.append(job.pause_seconds)
    assert pauses == sorted(pauses)
    assert pauses[-1] == pager.LONGEST_PAUSE_SECONDS
    job.resting_until, job.act = 0, lambda *, at: 0
    pager.turn(job)
    assert job.pause_seconds == pager.FIRST_PAUSE_SECONDS


@pytest.mark.django_db(transaction=True)
def test_a_lost_database_connection_is_opened_anew():
    job = pager.Job("broken", failing(OperationalError("server closed the connection"), []))
    pager.turn(job)
    assert Heartbeat.objects.count() == 0  # asks the database again


@pytest.mark.django_db
def test_a_busy_loop_shows_its_life_only_now_and_then(now, django_assert_num_queries):
    heart = pager.Heart("pager")
    heart(at=now)
    with django_assert_num_queries(0):
        heart(at=now)
    assert Heartbeat.objects.get().name == "pager"


def test_an_idle_loop_ends_as_soon_as_it_is_told():
    stop = threading.Event()
    loop = threading.Thread(target=pager.loop, args=([], stop), kwargs={"wait": stop.wait, "every_seconds": 60.0})
    loop.start()
    started = time.monotonic()
    stop.set()
    loop.join(timeout=5)
    assert not loop.is_alive()
    assert time.monotonic() - started < 1
