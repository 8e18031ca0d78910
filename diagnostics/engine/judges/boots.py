"""Which boot of which machine a line of a log belongs to, where the log holds several."""

import re

from diagnostics.engine import catalog
from diagnostics.engine.parsers.log_line import LogLine

# journalctl's mark between boots, and what the kernel says first.
LITERALS = ("-- Boot ", "-- Reboot --", "Linux version ")
_MARK = re.compile(r"-- (?:Boot (?P<id>[0-9a-f]{8,32})|Reboot) --")


class Boots:
    """Follows one source. A boot without an id of its own is numbered: "2" is the second that this log shows."""

    def __init__(self) -> None:
        self._number: dict[str | None, int] = {}
        self._named: str | None = None
        self._uptime: dict[str | None, float] = {}
        self._is_fresh = True  # nothing was said in this boot yet
        self.has_several = False

    def tell(self, line: LogLine) -> LogLine:
        if line.boot:
            return line
        if match := _MARK.search(line.raw):
            self._named = match["id"]
            self._next(None)
        elif line.message.startswith("Linux version ") and line.kernel is not False:
            self._next(line.host)
        else:
            self._is_fresh = False
            if line.moment.uptime_s is not None:
                self._follow(line.host, line.moment.uptime_s)
        line.boot = self._named or self._label(line.host)
        return line

    def _follow(self, host: str | None, uptime: float) -> None:
        if uptime + catalog.thresholds()["host"]["clock_back_s"] < self._uptime.get(host, 0.0):
            self._next(host)
        self._uptime[host] = uptime

    def _next(self, host: str | None) -> None:
        """A mark and the kernel's first words tell of one boot, not of two."""
        if not self._is_fresh:
            self._number[host] = self._number.get(host, 0) + 1
            self.has_several = True
        self._uptime[host] = 0.0
        self._is_fresh = True

    def _label(self, host: str | None) -> str:
        return str(1 + self._number.get(host, 0) + (self._number.get(None, 0) if host else 0))


def without_numbers(boot: str | None) -> str | None:
    """The boot's own id, or None: where a log shows one boot, its number says nothing."""
    return None if boot and boot.isdigit() and len(boot) < 8 else boot
