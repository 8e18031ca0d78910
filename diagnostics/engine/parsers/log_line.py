"""One line of a log, in every usual prefix, taken apart: when, which host, which program, what it said.

[ 6781.548768] MESSAGE                          dmesg            kernel
[Fri Aug 30 11:11:22 2024] MESSAGE              dmesg -T         kernel
kern  :warn  : [ 12.3] MESSAGE                  dmesg -x         kernel
2025-01-21T04:41:44,285060+00:00 MESSAGE        dmesg iso        kernel
6,3973,227996636,-;MESSAGE                      /dev/kmsg        kernel
Feb 24 10:58:12 host kernel: [ 2410.02] MESSAGE syslog           kernel
2025-01-21T04:41:44+0000 host prog[12]: MESSAGE short-iso        prog
<165>1 2025-01-21T04:41:44Z host prog 12 - - M  RFC 5424         prog
{"MESSAGE": ..., "_TRANSPORT": "kernel"}        journalctl json  kernel
MESSAGE                                         pasted           unknown
"""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from diagnostics.engine.parsers.text import clean
from diagnostics.engine.types import Moment

LONGEST = 8192  # characters of a line that are looked at
NO_YEAR = 4  # a leap year, so that 29 February exists

_MONTHS = {
    name: n
    for n, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"(?P<clock>\d{2}:\d{2}:\d{2})(?:[.,](?P<fraction>\d{1,9}))?"
_ZONE = r"(?:\s?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"

_PRIORITY = re.compile(r"<\d{1,3}>")
_FACILITY = re.compile(r"(?:kern|user|daemon|syslog|auth|local\d)\s*:\s?\w+\s*:\s*")
_RFC5424 = re.compile(
    r"1 (?P<stamp>\S+) (?P<host>\S+) (?P<tag>\S+) (?P<pid>\S+) \S+ (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?(?:\ufeff)?"
)
_KMSG = re.compile(r"\d{1,5},\d+,(?P<micros>\d+),[-c+][^;]{0,80};")
_UPTIME = re.compile(r"\[?\s*(?P<uptime>\d{1,10}\.\d{3,9})\](?:\s?\[\s*[TC]\d+\])?\s?")
_DELTA = re.compile(r"\[\s*\+?(?:<?\s*\d+\.\d+>?|\.\.\.)\]\s?")
_HUMAN = re.compile(
    rf"\[(?:{_DAY} )?{_MONTH} +(?P<day>\d{{1,2}}) (?:(?P<year_first>\d{{4}}) )?{_CLOCK}(?: (?P<year>\d{{4}}))?\]\s?"
)
_ISO = re.compile(rf"\[?(?:{_DAY} )?(?P<date>\d{{4}}[-/]\d{{2}}[-/]\d{{2}})[T ]{_CLOCK}{_ZONE}\]?:?\s+")
_SYSLOG = re.compile(
    rf"(?:{_DAY} )?{_MONTH} +(?P<day>\d{{1,2}}) (?:(?P<year_first>\d{{4}}) )?{_CLOCK}(?: (?P<year>\d{{4}}))?\s+"
)
_UNIX = re.compile(r"(?P<seconds>1\d{9})\.\d{6} (?=\S+ \S+: )")
_TAG = re.compile(
    r"(?:(?P<host>[A-Za-z0-9][\w.\-]*)\s+)?(?P<tag>[A-Za-z(_][\w./@()\-]{0,60}?)(?:\[(?P<pid>\d+)\])?:(?=\s|\[|$)\s?"
)
# A program's line without its date; the kernel too begins so when it tells of a crash ("python3[77]: segfault at").
_PROGRAM = re.compile(r"(?P<tag>[A-Za-z(_][\w./@()\-]{0,60})\[\d+\]: (?!segfault |trap |general protection|bad frame)")
_KERNEL_TAG = re.compile(r"(?:(?P<host>[A-Za-z0-9][\w.\-]*)\s+)?kernel:\s?")
_LEVELS = re.compile(r"(?:\[(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|tid \d+)\]\s*)+")

# After the time of a collector: the stream of a container (CRI), the labels of Loki, the date of the line itself.
_WRAPPER = re.compile(r"(?:stdout|stderr) [FP] |\{[\w.\-]+=\"[^}]{0,500}\} |(?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)")
# First words of kernel messages that look like a host's name before "word:".
_DRIVERS = frozenset(
    [
        "nvme",
        "pcieport",
        "mlx5_core",
        "mlx4_core",
        "nvidia",
        "nvidia-gpu",
        "EDAC",
        "block",
        "sd",
        "ata",
        "scsi",
        "pci",
        "usb",
        "ahci",
        "igb",
        "ixgbe",
        "i40e",
        "ice",
        "bnxt_en",
        "snd_hda_intel",
        "xhci_hcd",
        "mpt3sas",
        "megaraid_sas",
        "vfio-pci",
        "pciehp",
        "amdgpu",
        "Buffer",
        "print_req_error",
        "INFO",
        "task",
        "BUG",
        "watchdog",
        "NMI",
        "Kernel",
        "Out",
        "oom-kill",
        "Memory",
        "EXT4-fs",
        "XFS",
        "BTRFS",
        "nfs",
        "rcu",
    ]
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """`kernel` is True or False where the prefix tells who spoke, None where nothing does; `start` is its place in the text."""

    number: int
    raw: str
    message: str
    moment: Moment
    host: str | None = None
    tag: str | None = None
    kernel: bool | None = None
    boot: str | None = None
    prefixed: bool = False
    start: int = 0


def parse(raw: str, *, number: int) -> LogLine:
    raw = clean(raw[:LONGEST])
    if raw.startswith("{") and (entry := _json(raw)) is not None:
        return _from_journal(entry, raw=raw, number=number)
    return _from_text(raw, number=number)


def _from_text(raw: str, *, number: int) -> LogLine:
    rest = raw.lstrip()
    if match := _PRIORITY.match(rest):
        rest = rest[match.end() :]
        if match := _RFC5424.match(rest):
            return _from_rfc5424(match, rest, raw=raw, number=number)
    if match := _FACILITY.match(rest):
        rest = rest[match.end() :]
        return _kernel(rest, raw=raw, number=number)
    if match := _KMSG.match(rest):
        moment = Moment(uptime_s=int(match["micros"]) / 1e6)
        return LogLine(number, raw, rest[match.end() :], moment, kernel=True, prefixed=True)
    if _UPTIME.match(rest) or _HUMAN.match(rest) or _DELTA.match(rest):
        return _kernel(rest, raw=raw, number=number)
    if match := _ISO.match(rest) or _SYSLOG.match(rest) or _UNIX.match(rest):
        if wrapped := _WRAPPER.match(rest, match.end()):
            return _unwrapped(rest[wrapped.end() :], _moment(match), raw=raw, number=number)
        dmesg = "," in match.group(0) and "T" in match.group(0)
        return _after_date(rest[match.end() :], _moment(match), raw=raw, number=number, dmesg=dmesg)
    if match := _KERNEL_TAG.match(rest):
        moment, message = _uptime(rest[match.end() :])
        return LogLine(number, raw, message, moment, match["host"], "kernel", True, prefixed=True)
    if match := _PROGRAM.match(rest):
        return LogLine(number, raw, rest[match.end() :], Moment(), None, match["tag"], False, prefixed=True)
    return LogLine(number, raw, rest, Moment())


def _unwrapped(rest: str, moment: Moment, *, raw: str, number: int) -> LogLine:
    """What a collector put its own time before: the line as it was, with the collector's time where it had none."""
    inner = _from_text(rest, number=number)
    return replace(
        inner, raw=raw, moment=inner.moment if inner.moment.at else _merge(moment, inner.moment), prefixed=True
    )


def _kernel(rest: str, *, raw: str, number: int) -> LogLine:
    """What dmesg prints: any stack of bracketed times, then perhaps "host kernel:" where a collector put it."""
    moment, host, kernel = Moment(), None, True
    for _ in range(3):
        match = _UPTIME.match(rest) or _HUMAN.match(rest) or _DELTA.match(rest) or _ISO.match(rest)
        if not match:
            break
        moment = _merge(moment, _moment(match))
        rest = rest[match.end() :]
    if match := _KERNEL_TAG.match(rest):
        host, rest = match["host"], rest[match.end() :]
        later, rest = _uptime(rest)
        moment = _merge(moment, later)
    elif match := _LEVELS.match(rest):
        kernel, rest = False, rest[match.end() :]
    elif match := re.match(
        r"(?P<tag>[A-Za-z(][\w.@()\-]*)\[\d+\]: ", rest
    ):  # a program that writes into the kernel's buffer
        return LogLine(number, raw, rest[match.end() :], moment, None, match["tag"], False, prefixed=True)
    elif match := re.match(r"(?P<host>[A-Za-z0-9][\w.\-]*) (?P<tag>[A-Za-z][\w.@()\-]*)\[\d+\]: ", rest):
        return LogLine(number, raw, rest[match.end() :], moment, match["host"], match["tag"], False, prefixed=True)
    return LogLine(number, raw, rest, moment, host, "kernel" if kernel else None, kernel, prefixed=True)


def _after_date(rest: str, moment: Moment, *, raw: str, number: int, dmesg: bool) -> LogLine:
    if match := _KERNEL_TAG.match(rest):
        later, message = _uptime(rest[match.end() :])
        return LogLine(number, raw, message, _merge(moment, later), match["host"], "kernel", True, prefixed=True)
    if dmesg:
        return LogLine(number, raw, rest, moment, None, "kernel", True, prefixed=True)
    match = _TAG.match(rest)
    if match and match["host"] and match["host"] not in _DRIVERS:
        kernel = match["tag"] == "kernel"
        return LogLine(number, raw, rest[match.end() :], moment, match["host"], match["tag"], kernel, prefixed=True)
    if match and match["pid"]:
        return LogLine(number, raw, rest[match.end() :], moment, None, match["tag"], False, prefixed=True)
    if _UPTIME.match(rest):
        later, rest = _uptime(rest)
        return LogLine(number, raw, rest, _merge(moment, later), None, "kernel", True, prefixed=True)
    return LogLine(number, raw, rest, moment, prefixed=True)


def _from_rfc5424(match: re.Match[str], rest: str, *, raw: str, number: int) -> LogLine:
    stamp = _ISO.match(match["stamp"] + " ")
    host, tag = (None if value == "-" else value for value in (match["host"], match["tag"]))
    later, message = _uptime(rest[match.end() :])
    moment = _merge(_moment(stamp) if stamp else Moment(), later)
    return LogLine(number, raw, message, moment, host, tag, tag == "kernel", prefixed=True)


def _json(raw: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and ("MESSAGE" in entry or {"msg", "pri"} <= entry.keys()) else None


def _from_journal(entry: dict[str, Any], *, raw: str, number: int) -> LogLine:
    message = entry.get("MESSAGE", entry.get("msg"))
    if isinstance(message, list):  # journalctl gives bytes that are not plain text as a list of numbers
        message = bytes(b for b in message if isinstance(b, int) and 0 <= b < 256).decode("utf-8", "replace")
    text = clean(str(message or ""))
    tag = entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM")
    kernel = entry.get("_TRANSPORT") == "kernel" or "msg" in entry or (tag == "kernel" and "_TRANSPORT" not in entry)
    moment = Moment()
    if isinstance(entry.get("time"), (int, float)):
        moment = Moment(uptime_s=float(entry["time"]))
    micros = str(entry.get("__REALTIME_TIMESTAMP", ""))
    if micros.isdigit() and len(micros) < 18:
        moment = Moment(at=datetime.fromtimestamp(int(micros) / 1e6, tz=UTC))
    host, boot = entry.get("_HOSTNAME"), entry.get("_BOOT_ID")
    return LogLine(
        number, text or raw, text, moment, str(host) if host else None, str(tag) if tag else None, kernel,
        str(boot) if boot else None, prefixed=True,
    )  # fmt: skip


def _uptime(text: str) -> tuple[Moment, str]:
    match = _UPTIME.match(text)
    return (_moment(match), text[match.end() :]) if match else (Moment(), text)


def _merge(first: Moment, second: Moment) -> Moment:
    dated = first if first.at else second
    uptime = first.uptime_s if first.uptime_s is not None else second.uptime_s
    return replace(dated, uptime_s=uptime)


def _moment(match: re.Match[str]) -> Moment:
    """A date that no calendar has, or one without its year, gives no moment: better none than a wrong one."""
    parts = match.groupdict()
    try:
        if parts.get("uptime"):
            return Moment(uptime_s=float(parts["uptime"]))
        if parts.get("seconds"):
            return Moment(at=datetime.fromtimestamp(int(parts["seconds"]), tz=UTC))
        if parts.get("date"):
            day = parts["date"].replace("/", "-")
        elif year := parts.get("year") or parts.get("year_first"):
            day = f"{year}-{_MONTHS[parts['month'].lower()]:02}-{int(parts['day']):02}"
        elif parts.get("month"):
            day = f"{NO_YEAR:04}-{_MONTHS[parts['month'].lower()]:02}-{int(parts['day']):02}"
        else:
            return Moment()
        zone = _zone(parts.get("zone"))
        at = datetime.fromisoformat(f"{day}T{parts['clock']}").replace(tzinfo=zone or UTC)
        fraction = parts.get("fraction")
        if fraction:
            at += timedelta(microseconds=int(fraction[:6].ljust(6, "0")))
        return Moment(at=at, zoned=zone is not None, has_year=at.year != NO_YEAR)
    except (ValueError, OverflowError, KeyError):
        return Moment()


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if text[0] == "-" else 1
    hours, minutes = int(text[1:3]), int(text[-2:])
    return timezone(sign * timedelta(hours=hours, minutes=minutes))
