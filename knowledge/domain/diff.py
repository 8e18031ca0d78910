"""What changed between two texts, by line."""

import difflib
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DiffLine:
    """`before` and `after` are line numbers from 1; None on the side where the line is not."""

    kind: Literal["same", "removed", "added"]
    before: int | None
    after: int | None
    text: str


def by_line(before: str, after: str) -> tuple[DiffLine, ...]:
    """Every line of both texts once, removed before added."""
    old, new = before.splitlines(), after.splitlines()
    found: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.extend(DiffLine("same", i + 1, j1 + i - i1 + 1, old[i]) for i in range(i1, i2))
            continue
        found.extend(DiffLine("removed", i + 1, None, old[i]) for i in range(i1, i2))
        found.extend(DiffLine("added", None, j + 1, new[j]) for j in range(j1, j2))
    return tuple(found)


def hunks(lines: tuple[DiffLine, ...], *, context: int = 3) -> tuple[tuple[DiffLine, ...], ...]:
    """The changed stretches with some lines around them; stretches that touch are one."""
    near = sorted(
        {
            other
            for index, line in enumerate(lines)
            if line.kind != "same"
            for other in range(max(0, index - context), min(len(lines), index + context + 1))
        }
    )
    groups: list[list[DiffLine]] = []
    last = -2
    for index in near:
        if index != last + 1:
            groups.append([])
        groups[-1].append(lines[index])
        last = index
    return tuple(tuple(group) for group in groups)
