"""Literals with bytes alone: log lines are a few sentences with other numbers in them, so each sentence is looked at once.

Digits are taken out of the block and of the literals; lines that are alike then are one. Where that leaves a literal in a line, the
line itself is asked.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from diagnostics.engine.parsers.scan_place import Block, Place

_NUMBERS = b"0123456789abcdef"  # hexadecimal numbers too
_SHORTEST = 3  # bytes left of a literal; shorter ones are looked for as they are
_MOST_KNOWN = 4 << 20  # bytes of sentences remembered, so that memory stays flat

Indexes = tuple[int, ...]


class PlainFinder:
    def __init__(self, literals: Sequence[bytes]) -> None:
        self._literals = literals
        self._by_sentence: dict[bytes, list[int]] = defaultdict(list)
        self._short: list[int] = []
        for index, literal in enumerate(literals):
            sentence = literal.translate(None, _NUMBERS)
            if len(sentence) < _SHORTEST:
                self._short.append(index)
            else:
                self._by_sentence[sentence].append(index)
        self._known: dict[bytes, Indexes] = {}
        self._size = 0

    def find(self, block: Block) -> list[Place]:
        data = bytes(block)
        held = self._held(data.translate(None, _NUMBERS).split(b"\n"))
        found = self._confirmed(data, held) if any(held) else []
        for index in self._short:
            found += _places(data, self._literals[index], index)
        found.sort()
        return found

    def _held(self, sentences: list[bytes]) -> list[Indexes]:
        """Which literals each sentence may hold. What is remembered is dropped at once: the common ones are soon known again."""
        if self._size > _MOST_KNOWN:
            self._known.clear()
            self._size = 0
        new = set(sentences).difference(self._known)
        if new:
            self._learn(new)
        return list(map(self._known.__getitem__, sentences))

    def _learn(self, new: set[bytes]) -> None:
        text = b"\n".join(new)
        self._size += len(text)
        self._known.update(dict.fromkeys(new, ()))
        for sentence, indexes in self._by_sentence.items():
            for at, _ in _places(text, sentence, 0):
                stop = text.find(b"\n", at)
                line = text[text.rfind(b"\n", 0, at) + 1 : stop if stop >= 0 else None]
                self._known[line] += tuple(indexes)

    def _confirmed(self, data: bytes, held: Iterable[Indexes]) -> list[Place]:
        found: list[Place] = []
        start = 0
        for line, indexes in zip(data.split(b"\n"), held, strict=True):
            for index in indexes:
                at = line.find(self._literals[index])
                if at >= 0:
                    found.append((start + at, index))
            start += len(line) + 1
        return found


def _places(data: bytes, literal: bytes, index: int) -> list[Place]:
    """One place in each line that holds it."""
    found: list[Place] = []
    at = data.find(literal)
    while at >= 0:
        found.append((at, index))
        stop = data.find(b"\n", at)
        at = data.find(literal, stop) if stop >= 0 else -1
    return found
