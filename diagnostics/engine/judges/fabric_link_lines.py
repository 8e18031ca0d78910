"""Lines of drivers about a link that went down or came up.

A port that nobody plugged in says "Link down" once when its driver starts and never comes up: no fault.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from functools import lru_cache

from diagnostics.engine import components
from diagnostics.engine.catalog import Storm, fabric
from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Observation

_NEAR = 200  # lines, where no clock tells
_CLEARS = ("fabric.link_down", "link-bounce")


class LinkLines:
    """One for each source: remembers which ports were seen up, and which have just been probed."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._was_up: set[str] = set()
        self._fresh: set[str] = set()
        self._stop: LogLine | None = None
        self._last_down: dict[str, float] = {}
        self._ups: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=fabric.link_words().ups_at))

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
        if words.stop.match(line.message):
            self._stop = line
            return
        for pattern in words.up:
            if match := pattern.match(line.message):
                part = _part(match.groupdict())
                self._was_up.add(part)
                self._stop = None
                yield self._hit(line, part, is_up=True)
                yield from self._ups_only(line, part)
                return
        for pattern in words.down:
            if match := pattern.match(line.message):
                part = _part(match.groupdict())
                yield self._hit(line, part, is_up=False)
                if not self._is_closing(line):
                    yield from self._bounce(line, part)
                return

    def _hit(self, line: LogLine, part: str, *, is_up: bool) -> Hit:
        words = fabric.link_words()
        quiet = is_up or self._is_unplugged(line, part) or self._is_closing(line)
        seen = observe(
            line, fault="fabric.link_down", source_name=self._source_name, role="note" if quiet else "root",
            component=part or None, confidence="medium", signature="link-never-up" if quiet else "link-down",
        )  # fmt: skip
        return Hit(seen, None if quiet else Storm(words.flap_at, "fabric.link_flap"), _CLEARS if is_up else ())

    def _bounce(self, line: LogLine, part: str) -> Iterator[Hit]:
        """The link went down again a moment after it had come up."""
        now, before, was_up = _seconds(line), self._last_down.get(part), bool(self._ups[part])
        self._ups[part].clear()
        if now is None:
            return
        self._last_down[part] = now
        if was_up and before is not None and 0 <= now - before <= fabric.link_words().bounce_s:
            yield Hit(self._flap(line, part, "link-bounce"))

    def _ups_only(self, line: LogLine, part: str) -> Iterator[Hit]:
        words, now, ups = fabric.link_words(), _seconds(line), self._ups[part]
        if now is None:
            return
        ups.append(now)
        booting = part in self._fresh or (line.moment.uptime_s or words.boot_s) < words.boot_s
        if not booting and len(ups) == words.ups_at and 0 < ups[-1] - ups[0] <= words.ups_s:
            yield Hit(self._flap(line, part, "link-ups"))

    def _flap(self, line: LogLine, part: str, signature: str) -> Observation:
        return observe(
            line, fault="fabric.link_flap", source_name=self._source_name, component=part or None, confidence="medium",
            signature=signature,
        )  # fmt: skip

    def _is_unplugged(self, line: LogLine, part: str) -> bool:
        if part in self._was_up:
            return False
        uptime = line.moment.uptime_s
        return part in self._fresh or (uptime is not None and uptime < fabric.link_words().boot_s)

    def _is_closing(self, line: LogLine) -> bool:
        """The system goes down, or its network is restarted."""
        if not self._stop:
            return False
        first, now = self._stop.moment.at, line.moment.at
        if first and now:
            return 0 <= (now - first).total_seconds() <= fabric.link_words().stop_s
        return line.number - self._stop.number <= _NEAR


def _seconds(line: LogLine) -> float | None:
    moment = line.moment
    if moment.uptime_s is not None:
        return moment.uptime_s
    return moment.at.timestamp() if moment.at else None


def _part(groups: dict[str, str | None]) -> str:
    return components.from_groups(groups) or ""
