"""Literals through hyperscan, one block at a time. The database is made in milliseconds, so it is not kept on disk."""

from collections.abc import Sequence
from typing import Any

from diagnostics.engine.parsers.scan_place import Block, Place


class HyperscanFinder:
    def __init__(self, literals: Sequence[bytes]) -> None:
        import hyperscan  # a large library; not there on every machine

        count = len(literals)
        self._database: Any = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        try:
            self._database.compile(
                expressions=list(literals), ids=list(range(count)), elements=count, flags=[0] * count, literal=True
            )
            self._scratch = hyperscan.Scratch(self._database)
        except hyperscan.error as error:
            raise OSError(f"hyperscan: {error}") from error

    def find(self, block: Block) -> list[Place]:
        found: list[Place] = []
        add = found.append

        def on_match(index: int, start: int, end: int, flags: int, context: Any) -> None:
            add((end - 1, index))

        # The callback must keep its name until the scan is over: a temporary one ends the process.
        self._database.scan(block, on_match, scratch=self._scratch)
        return found
