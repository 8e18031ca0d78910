"""The web worker: gunicorn's threads, but nobody may hold one by saying nothing."""

import socket
import struct
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

SILENCE_SECONDS = 20  # between two pieces of a request; sixteen silent senders would otherwise stop the whole web


class PatientWorker(ThreadWorker):
    """Ends a connection whose sender has been silent for too long in the middle of a request."""

    def handle(self, conn: Any) -> Any:
        # The kernel's limit: gunicorn sets the socket to blocking itself, which would undo a timeout of Python's.
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENCE_SECONDS, 0))
        return super().handle(conn)
