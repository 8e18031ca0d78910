"""Words for saying what a kind of evidence looks like. Each parser names its kinds in TEXT_KINDS and JSON_KINDS."""

import re
from collections.abc import Callable
from typing import Any

LooksLikeText = Callable[[str], bool]  # of the first 256 Ki characters
LooksLikeJson = Callable[[Any], bool]  # of the parsed document
TextKinds = tuple[tuple[str, LooksLikeText], ...]
JsonKinds = tuple[tuple[str, LooksLikeJson], ...]


def matches(pattern: str) -> LooksLikeText:
    compiled = re.compile(pattern)
    return lambda head: compiled.search(head) is not None


def any_of(*words: str) -> LooksLikeText:
    return lambda head: any(word in head for word in words)


def has_key(*keys: str) -> LooksLikeJson:
    """A document that is an object with at least one of the keys."""
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


def has_schema(name: str) -> LooksLikeJson:
    return lambda value: isinstance(value, dict) and value.get("schema") == name
