import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from config import pager
from incidents.lib import doorbell


class Command(BaseCommand):
    help = "Process alerts, reactions and signs of life until stopped; goes on while the queue is down."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()

        def end(*_: object) -> None:
            stop.set()
            doorbell.ring()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        pager.run(stop)
