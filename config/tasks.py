"""The queue's own signs of life: that timed work goes round, and that the worker is there."""

import logging
import threading
import time
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from incidents.actions import heartbeats

log = logging.getLogger(__name__)

WORKER_BEATS_EVERY_SECONDS = 10.0


@shared_task(name="config.tasks.queue_goes_round")
def queue_goes_round() -> None:
    heartbeats.beat("beat", at=timezone.now())


@worker_ready.connect
def show_life(**_kwargs: Any) -> None:
    """In the worker's main process: its children come and go."""
    threading.Thread(target=_beat_for_ever, name="heartbeat", daemon=True).start()


def _beat_for_ever() -> None:
    while True:
        beat_once()
        time.sleep(WORKER_BEATS_EVERY_SECONDS)


def beat_once() -> None:
    """A database that is away is no reason to stop: the next beat tries again."""
    try:
        close_old_connections()
        heartbeats.beat("worker", at=timezone.now())
    except DatabaseError as error:
        log.warning("the worker's sign of life could not be written: %s", error)
    finally:
        connection.close()  # a child that is forked meanwhile must not inherit it
