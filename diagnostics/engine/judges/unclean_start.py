"""A start that shows that nobody shut the machine down: its journal was left open and a file system had to be recovered.

Each alone is no sign: a slow shutdown leaves the journal open, and a file system is recovered after a removed drive too.
"""

import re
from collections.abc import Iterator

from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine

_JOURNAL = re.compile(r"File \S+/system\S*\.journal corrupted or uncleanly shut down")
_RECOVERED = re.compile(
    r"EXT4-fs \([^)]+\): recovery complete|XFS \([^)]+\): Ending recovery|md/raid\S+ not clean -- starting background"
)
Start = tuple[str | None, str | None]  # node, boot


class UncleanStart:
    """The judge of the first lines of a boot; one for each source."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._recovered: set[Start] = set()
        self._open: dict[Start, LogLine] = {}

    @staticmethod
    def literals() -> tuple[str, ...]:
        return (
            "corrupted or uncleanly shut down", ": recovery complete", "Ending recovery (logdev", "not clean -- starting background",
        )  # fmt: skip

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        start = (line.host, line.boot)
        if _JOURNAL.match(line.message):
            self._open.setdefault(start, line)
        elif _RECOVERED.match(line.message):
            self._recovered.add(start)
        else:
            return
        if start in self._recovered and (journal := self._open.pop(start, None)):
            yield Hit(
                observe(
                    journal, fault="host.reboot_unexpected", source_name=self._source_name, confidence="medium",
                    signature="unclean-start",
                )
            )  # fmt: skip
