"""Finds many literals in a block of bytes in one pass: with hyperscan where it is installed, else with bytes alone, and the same result.

SICKBAY_SCANNER=re does without hyperscan.
"""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

from diagnostics.engine.parsers.scan_hyperscan import HyperscanFinder
from diagnostics.engine.parsers.scan_place import Block, Place
from diagnostics.engine.parsers.scan_plain import PlainFinder


class Finder(Protocol):
    def find(self, block: Block) -> list[Place]: ...


class Scanner:
    """`literals` are looked for as they are; upper and lower case differ."""

    def __init__(self, literals: Sequence[bytes], *, plain: bool | None = None) -> None:
        self.literals = tuple(literals)
        self._plain = is_plain() if plain is None else plain
        self._finder: Finder | None = None

    def find(self, block: Block) -> list[Place]:
        """At least one place for each line and each literal that it holds, ordered by line."""
        if self._finder is None:
            self._finder = _finder(self.literals, plain=self._plain)
        return self._finder.find(block)


def is_plain() -> bool:
    """True if hyperscan may not or cannot be used."""
    return os.environ.get("SICKBAY_SCANNER") == "re" or find_spec("hyperscan") is None


def _finder(literals: Sequence[bytes], *, plain: bool) -> Finder:
    if not plain:
        try:
            return HyperscanFinder(literals)
        except (ImportError, OSError):  # a processor or a C library that the wheel was not made for
            pass
    return PlainFinder(literals)
