"""Services that a timer starts and that fail: what a log says of X.timer tells that X.service is one of them.

What units.toml knows as the work of a timer, the signatures tell of.
"""

import re
from collections.abc import Iterator

from diagnostics.engine.catalog import units
from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine

_FAULT = "os.timer_failed"
_TIMER = re.compile(r"(?P<name>[\w@.\\-]+)\.timer: ")
_FAILED = re.compile(r"(?:Unit )?(?P<name>[\w@.\\-]+)\.service(?:: Failed with result '| entered failed state)")
_MOST = 1000  # names that are kept


class Timers:
    """The judge of the lines of timers; one for each source."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._timers: set[str] = set()
        self._failed: dict[str, LogLine] = {}

    @staticmethod
    def literals() -> tuple[str, ...]:
        return (".timer: ", ".service: Failed with result '", ".service entered failed state")

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if match := _TIMER.match(line.message):
            name = match["name"]
            if len(self._timers) < _MOST:
                self._timers.add(name)
            if earlier := self._failed.pop(name, None):
                yield self._hit(name, earlier)
        elif match := _FAILED.match(line.message):
            name = match["name"]
            if units.fault_of(f"{name}.service") == _FAULT:
                return
            if name in self._timers:
                yield self._hit(name, line)
            elif len(self._failed) < _MOST:
                self._failed[name] = line

    def _hit(self, name: str, line: LogLine) -> Hit:
        return Hit(
            observe(line, fault=_FAULT, source_name=self._source_name, component=f"{name}.service", signature="timers")
        )
