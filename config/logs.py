"""Log lines without secrets: an address that carries one is written by its first characters."""

import logging
import re

SECRET = re.compile(r"\b(sb[a-z]_)[A-Za-z0-9_-]{20,}")  # what incidents.lib.tokens makes


class Discreet(logging.Formatter):
    """Masks what we give out once, in messages, arguments and tracebacks alike."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRET.sub(r"\1…", super().format(record))
