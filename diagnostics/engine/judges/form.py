"""What a kind of evidence is judged by. Each judge names its kinds in FORMATS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.types import Check, Observation
from incidents.domain.hardware import PartFacts

Judge = Callable[..., list[Observation]]


def of(*families: str) -> Callable[[], tuple[str, ...]]:
    return lambda: families


@dataclass(frozen=True, slots=True)
class Format:
    """`judges` take the payload that the parser made (a Log or a JsonText) and `source_name`.

    `families` are the fault families that a look speaks for. `has_log`: the text may hold lines of a system log as well, which are
    then looked at too. `gaps` finds what the evidence itself says could not be read; `unread` is why this kind cannot be judged in
    full. `parts` are the GPUs (and other parts) that the evidence names, so that an index, a UUID and an address mean one board.
    """

    name: str
    judges: tuple[Judge, ...]
    families: Callable[[], tuple[str, ...]]
    has_log: bool = False
    gaps: Callable[[Any], list[Check]] = lambda payload: []
    unread: str = ""
    parts: Callable[[Any], Sequence[PartFacts]] = lambda payload: ()
