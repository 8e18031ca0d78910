"""The stamps of BMC tools: `07/13/2015 12:00:27`, `12/18/20 12:04:41 UTC`, `Jan-01-2026 10:00:00`, `2026-02-10T10:53:19-06:00`."""

import re
from datetime import UTC, datetime
from functools import lru_cache

from diagnostics.engine.types import Moment

_CLOCK = re.compile(r"\s*(\d{1,2}):(\d{2})(?::(\d{2}))?(?: ?([AP]M))?(?: ([A-Z]{3,5}|[+-]\d\d(?::?\d\d)?))?\s*$")
_UTC = ("UTC", "GMT")
_DATES = ("%m/%d/%Y", "%m/%d/%y", "%b-%d-%Y", "%d-%b-%Y", "%Y-%m-%d", "%Y/%m/%d")
_FIRST_YEAR = 2001  # what a BMC prints whose clock was never set is older


def moment(date: str, time: str) -> Moment:
    """An empty moment if the stamp cannot be read or the clock was not set."""
    day, clock = _day(date.strip()), _CLOCK.match(time)
    if day is None or clock is None:
        return Moment()
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if clock[4]:
        hour = hour % 12 + (12 if clock[4] == "PM" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return Moment()
    return _set(day.replace(hour=hour, minute=minute, second=second), zoned=clock[5] in _UTC)


@lru_cache(maxsize=512)
def _day(date: str) -> datetime | None:
    for form in _DATES:
        try:
            return datetime.strptime(date, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def of_text(stamp: str) -> Moment:
    """A date and a time in one piece: `2026-11-11T03:22:10-06:00`, `11/09/2026 23:31:44`."""
    stamp = stamp.strip()
    if "T" in stamp[:12] and (found := iso(stamp)).at:
        return found
    day, _, clock = stamp.replace("T", " ", 1).rstrip("Z").partition(" ")
    return moment(day, clock)


def iso(text: object) -> Moment:
    if not isinstance(text, str):
        return Moment()
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return Moment()
    return _set(at if at.tzinfo else at.replace(tzinfo=UTC), zoned=at.tzinfo is not None)


def _set(at: datetime, *, zoned: bool) -> Moment:
    return Moment(at=at, zoned=zoned) if at.year >= _FIRST_YEAR else Moment()
