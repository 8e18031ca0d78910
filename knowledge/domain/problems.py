"""What is wrong with a text, and where."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. `line` counts from 1; `text` says what is wrong and what to do."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


class FormatError(ValueError):
    """A text that is no SOP; `problems` holds every mistake found, in the order of the lines."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))
