"""ps and top: who is in which state.

USER  PID %CPU %MEM    VSZ   RSS TTY STAT START   TIME COMMAND
ops  4711  0.0  0.1  10240  2048 ?   D    10:00   0:01 cp a /mnt/shared
"""

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches

_STATES = ("STAT", "S")
_COMMANDS = ("COMMAND", "CMD")


@dataclass(frozen=True, slots=True)
class Process:
    command: str
    state: str
    number: int
    raw: str

    @property
    def is_kernel_thread(self) -> bool:
        return self.command.startswith("[")


def processes(text: str) -> Iterator[Process]:
    titles: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        cells = raw[:1000].split()
        if "PID" in cells and any(title in cells for title in _COMMANDS):
            titles = cells
            continue
        state = next((titles.index(title) for title in _STATES if title in titles), None)
        command = next((titles.index(title) for title in _COMMANDS if title in titles), None)
        if state is None or command is None or len(cells) <= max(state, command):
            continue
        yield Process(
            " ".join(cells[command:]) if command > state else cells[command], cells[state], number, raw.strip()
        )


TEXT_KINDS: TextKinds = (
    (
        "processes",
        matches(
            r"(?m:^[ \t]*(?:F|USER|UID|PPID|PID)[ \t](?>.*?\bPID?\b)(?>.*?\b(?:STAT|S)\b).*\b(?:COMMAND|CMD)[ \t]*$)"
        ),
    ),
    ("processes", matches(r"(?m:^[ \t]*PID[ \t](?>.*?\b(?:STAT|S)\b).*\b(?:COMMAND|CMD)[ \t]*$)")),
)
