"""Finds many literals in a block of bytes in one pass."""

from collections.abc import Sequence


class Scanner:
    """`literals` are looked for as they are; upper and lower case differ."""

    def __init__(self, literals: Sequence[bytes]) -> None:
        self.literals = tuple(literals)

    def find(self, block: bytes) -> list[tuple[int, int]]:
        """(an offset inside the line, index of the literal), at least once for each line and each literal that it holds.

        Ordered by offset.
        """
        found: list[tuple[int, int]] = []
        for index, literal in enumerate(self.literals):
            at = block.find(literal)
            while at >= 0:
                found.append((at, index))
                end = block.find(b"\n", at)
                at = block.find(literal, end) if end >= 0 else -1
        return sorted(found)
