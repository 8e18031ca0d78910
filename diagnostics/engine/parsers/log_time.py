"""The times that logs are stamped with, in every usual spelling.

Names of months and days are those of the machine's language; a zone that is known by its letters alone counts only if no other zone
has the same letters (CST is America's and China's).
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from diagnostics.engine.types import Moment

_FIRST_YEAR, _LAST_YEAR = 1970, 2200  # a clock that says otherwise says nothing
NO_YEAR = 4  # a leap year, so that 29 February exists

# C, zh, ja, de, fr, es, it, pt, nl, pl as glibc abbreviates them, in lower case.
_MONTH_NAMES = {
    1: "jan jän janv ene gen sty 1月", 2: "feb févr fev lut 2月", 3: "mar mär mars mrt 3月", 4: "apr avril abr kwi 4月",
    5: "may mai mayo mag maio mei maj 5月", 6: "jun juin giu cze 6月", 7: "jul juil lug lip 7月", 8: "aug août ago sie 8月",
    9: "sep sept set wrz 9月", 10: "oct okt ott out paź 10月", 11: "nov lis 11月", 12: "dec dez déc dic gru 12月",
}  # fmt: skip
_MONTHS = {name: number for number, names in _MONTH_NAMES.items() for name in names.split()}
_MONTHS |= {f"{n:02}月": n for n in range(1, 10)}
_ZONES = {"Z": 0, "UTC": 0, "GMT": 0, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7,
          "PST": -8, "PDT": -7, "JST": 9, "KST": 9, "HKT": 8, "AEST": 10, "AEDT": 11}  # fmt: skip

_NAMES = "|".join(sorted((re.escape(name) for name in _MONTHS), key=len, reverse=True))
_DAY = r"(?:[^\W\d_]{1,4}\.?,? )"
_MONTH = rf"(?P<month>(?i:{_NAMES}))\.?"
_CLOCK = r"(?P<clock>\d{2}:\d{2}:\d{2})(?:[.,](?P<fraction>\d{1,9}))?"
_ZONE = r"(?:\s?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}|[A-Z]{3,4}(?= \S+ \S+?:)))?"
_YEARS = r"(?:(?P<year_first>\d{4}) )?"
_YEAR = r"(?: (?P<year>\d{4}))?"

# Lines of one second carry one stamp; what it means is worked out once.
_known: dict[str, Moment] = {}
_MOST_KNOWN = 1024

# [ 6781.548768] or [ 6781.548768][ T1234]
UPTIME = re.compile(r"\[?\s*(?P<uptime>\d{1,10}\.\d{3,9})\](?:\s?\[\s*[TC]\d+\])?\s?")
# dmesg -d, -H: [  +0.000844], [<    0.000012>]
DELTA = re.compile(r"\[\s*(?:\+\s*)?(?:<\s*)?(?:\d+\.\d+>?|\.\.\.)\]\s?")
# dmesg -T: [Fri Aug 30 11:11:22 2024]; dmesg -H: [Aug30 11:11], [  +0.1]; collectors: [Aug 30 2024 11:11:22]
HUMAN = re.compile(
    rf"\[{_DAY}?{_MONTH} *(?P<day>\d{{1,2}})日? {_YEARS}(?:{_CLOCK}|(?P<minute>\d{{2}}:\d{{2}})){_YEAR}(?: [A-Z]{{3,4}})?\]\s?"
)
ISO = re.compile(rf"\[?{_DAY}?(?P<date>\d{{4}}[-/]\d{{2}}[-/]\d{{2}})[T_ ]{_CLOCK}{_ZONE}\]?:?\s+")
CHINESE = re.compile(
    rf"{_DAY}?(?P<y>\d{{4}})\s?年\s?(?P<m>\d{{1,2}})\s?月\s?(?P<d>\d{{1,2}})\s?日[^\d\[]{{0,8}}{_CLOCK}\s+"
)
SYSLOG = re.compile(rf"{_DAY}?{_MONTH} +(?P<day>\d{{1,2}}) {_YEARS}{_CLOCK}{_YEAR}(?: [A-Z]{{3,4}}(?= \S+ \S+?:))?\s+")
# 01/Dec/2024:03:38:00 +0000, 01-Dec-2024 03:38:00, 12/01/2024 03:38:00
SLASHED = re.compile(rf"\[?(?P<day>\d{{1,2}})[/-]{_MONTH}[/-](?P<year>\d{{4}})[: ]{_CLOCK}{_ZONE}\]?\s+")
AMERICAN = re.compile(rf"\[?(?P<m>\d{{2}})/(?P<d>\d{{2}})/(?P<y>\d{{4}}),? {_CLOCK}\]?\s+")
# journalctl -o short-unix
UNIX = re.compile(r"(?P<seconds>1\d{9})\.\d{6} (?=\S+ \S+: )")
# klog: E1201 03:38:00.123456    1234 file.go:123] message
KLOG = re.compile(rf"[IWEF](?P<klog>\d{{4}}) {_CLOCK}\s+(?P<pid>\d+) (?P<tag>[\w./-]+:\d+)\] ")
LOGFMT = re.compile(rf"(?:time|ts|t)=\"?(?P<date>\d{{4}}-\d{{2}}-\d{{2}})[T ]{_CLOCK}{_ZONE}")


def moment(match: re.Match[str]) -> Moment:
    """A date that no calendar has, or one without its year, gives no moment: better none than a wrong one."""
    if match.re is UPTIME:
        return Moment(uptime_s=float(match["uptime"]))
    stamp = match.group()
    if (known := _known.get(stamp)) is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        known = _known[stamp] = _moment(match.groupdict())
    return known


def _moment(parts: dict[str, Any]) -> Moment:
    try:
        if parts.get("seconds"):
            return Moment(at=datetime.fromtimestamp(int(parts["seconds"]), tz=UTC))
        zone = _zone(parts.get("zone"))
        at = datetime.fromisoformat(f"{_day(parts)}T{parts.get('clock') or parts['minute'] + ':00'}").replace(
            tzinfo=zone or UTC
        )
        if fraction := parts.get("fraction"):
            at += timedelta(microseconds=int(fraction[:6].ljust(6, "0")))
        if at.year != NO_YEAR and not _FIRST_YEAR <= at.year <= _LAST_YEAR:
            return Moment()
        return Moment(at=at, zoned=zone is not None, has_year=at.year != NO_YEAR)
    except (ValueError, OverflowError, KeyError, TypeError):
        return Moment()


def _day(parts: dict[str, str | None]) -> str:
    if date := parts.get("date"):
        return date.replace("/", "-")
    if parts.get("y"):
        return f"{parts['y']}-{int(parts['m'] or 0):02}-{int(parts['d'] or 0):02}"
    if klog := parts.get("klog"):
        return f"{NO_YEAR:04}-{klog[:2]}-{klog[2:]}"
    year = int(parts.get("year") or parts.get("year_first") or NO_YEAR)
    return f"{year:04}-{_MONTHS[(parts['month'] or '').lower()]:02}-{int(parts['day'] or 0):02}"


def from_text(stamp: str) -> Moment:
    """An ISO stamp that stands alone, as JSON has it."""
    match = ISO.match(stamp + " ")
    return moment(match) if match else Moment()


def merge(first: Moment, second: Moment) -> Moment:
    dated = first if first.at else second
    uptime = first.uptime_s if first.uptime_s is not None else second.uptime_s
    return Moment(dated.at, dated.zoned, dated.has_year, uptime)


def with_year_near(moment: Moment, at: datetime) -> Moment:
    """A stamp without its year is taken as the one closest to `at`; 29 February of no leap year as the day before."""
    if moment.at is None or moment.has_year:
        return moment
    return replace(moment, at=in_the_year_nearest(moment.at, at), has_year=True)


def in_the_year_nearest(stamp: datetime, at: datetime) -> datetime:
    choices = []
    for year in (at.year - 1, at.year, at.year + 1):
        try:
            choices.append(stamp.replace(year=year))
        except ValueError:
            choices.append(stamp.replace(year=year, day=28))
    return min(choices, key=lambda choice: abs(choice - at))


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text[0] not in "+-":
        return timezone(timedelta(hours=_ZONES[text])) if text in _ZONES else None
    sign = -1 if text[0] == "-" else 1
    hours, minutes = int(text[1:3]), int(text[-2:])
    return timezone(sign * timedelta(hours=hours, minutes=minutes))
