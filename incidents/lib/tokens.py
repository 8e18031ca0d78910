"""Secrets that are shown once; only their SHA-256 is kept. They are long and random, so no slow hash is needed."""

import hashlib
import secrets
from dataclasses import dataclass


@dataclass(frozen=True)
class Secret:
    """`text` is for the person, `digest` and `prefix` are for the row."""

    text: str
    prefix: str
    digest: str


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def new(mark: str) -> Secret:
    """A secret of 256 bits that starts with the mark, so that a leaked one can be recognised."""
    text = f"{mark}_{secrets.token_urlsafe(32)}"
    return Secret(text, text[:10], digest(text))
