"""Lines of drivers about a link that went down or came up.

A port that nobody plugged in says "Link down" once when its driver starts and never comes up: no fault.
"""

from collections.abc import Iterator
from functools import lru_cache

from diagnostics.engine.catalog import Storm, fabric
from diagnostics.engine.judges import components
from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine

_CLEARS = ("fabric.link_down",)


class LinkLines:
    """One for each source: remembers which ports were seen up, and which have just been probed."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._was_up: set[str] = set()
        self._fresh: set[str] = set()

    @staticmethod
    @lru_cache(maxsize=1)
    def literals() -> tuple[str, ...]:
        return fabric.link_words().words

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        words = fabric.link_words()
        if not any(word in line.message for word in words.words):
            return
        if match := words.probe.match(line.message):
            self._fresh.add(_part(match.groupdict()))
            return
        for pattern in words.up:
            if match := pattern.match(line.message):
                part = _part(match.groupdict())
                self._was_up.add(part)
                yield self._hit(line, part, is_up=True)
                return
        for pattern in words.down:
            if match := pattern.match(line.message):
                yield self._hit(line, _part(match.groupdict()), is_up=False)
                return

    def _hit(self, line: LogLine, part: str, *, is_up: bool) -> Hit:
        words = fabric.link_words()
        quiet = is_up or self._is_unplugged(line, part)
        seen = observe(
            line, fault="fabric.link_down", source_name=self._source_name, role="note" if quiet else "root",
            component=part or None, confidence="medium", signature="link-never-up" if quiet else "link-down",
        )  # fmt: skip
        return Hit(seen, None if quiet else Storm(words.flap_at, "fabric.link_flap"), _CLEARS if is_up else ())

    def _is_unplugged(self, line: LogLine, part: str) -> bool:
        if part in self._was_up:
            return False
        uptime = line.moment.uptime_s
        return part in self._fresh or (uptime is not None and uptime < fabric.link_words().boot_s)


def _part(groups: dict[str, str | None]) -> str:
    return components.from_groups(groups) or ""
