"""One line of a log, in every usual prefix, taken apart: when, which host, which program, what it said.

[ 6781.548768] MESSAGE                          dmesg            kernel
[Fri Aug 30 11:11:22 2024] MESSAGE              dmesg -T         kernel
kern  :warn  : [ 12.3] MESSAGE                  dmesg -x         kernel
2025-01-21T04:41:44,285060+00:00 MESSAGE        dmesg iso        kernel
6,3973,227996636,-;MESSAGE                      /dev/kmsg        kernel
Feb 24 10:58:12 host kernel: [ 2410.02] MESSAGE syslog           kernel
2025-01-21T04:41:44+0000 host prog[12]: MESSAGE short-iso        prog
<165>1 2025-01-21T04:41:44Z host prog 12 - - M  RFC 5424         prog
E0121 04:41:44.285060 1234 file.go:1] MESSAGE   klog             file.go:1
{"MESSAGE": ..., "_TRANSPORT": "kernel"}        journalctl json  kernel
node7: LINE, 12:LINE, /var/log/syslog:LINE      pdsh, grep       as the line says
MESSAGE                                         pasted           unknown
"""

import re
from dataclasses import dataclass, replace

from diagnostics.engine.parsers import log_json, log_time
from diagnostics.engine.parsers.log_time import DELTA, HUMAN, ISO, KLOG, LOGFMT, SYSLOG, UNIX, UPTIME, merge
from diagnostics.engine.parsers.text import clean
from diagnostics.engine.types import MISSHAPEN, Moment

LONGEST = 8192  # characters of a line that are looked at

_PRIORITY = re.compile(r"<\d{1,3}>")
_FACILITY = re.compile(r"(?:kern|user|daemon|syslog|auth|local\d)\s*:\s*\w+\s*:\s*")
_RFC5424 = re.compile(
    r"1 (?P<stamp>\S+) (?P<host>\S+) (?P<tag>\S+) (?P<pid>\S+) \S+ (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?(?:\ufeff)?"
)
_KMSG = re.compile(r"\d{1,5},\d+,(?P<micros>\d+),[-c+][^;]{0,80};")
_TAG = re.compile(
    r"(?:(?P<host>[A-Za-z0-9][\w.\-]*)\s+)?(?P<tag>[A-Za-z(_][\w./@()\-]{0,60}?)(?:\[(?P<pid>\d+)\])?:(?=\s|\[|$)\s?"
)
# A program's line without its date; the kernel too begins so when it tells of a crash ("python3[77]: segfault at").
_PROGRAM = re.compile(r"(?P<tag>[A-Za-z(_][\w./@()\-]{0,60})\[\d+\]: (?!segfault |trap |general protection|bad frame)")
# A program that writes into the kernel's buffer.
_IN_BUFFER = re.compile(r"(?:(?P<host>[A-Za-z0-9][\w.\-]*) )?(?P<tag>[A-Za-z(][\w.@()\-]*)\[\d+\]: ")
_SYSLOG_LEVEL = (
    r"(?:\[(?:emerg|alert|crit|err|error|warn|warning|notice|info|debug)\] |(?:kern|user|daemon)\.\w+ "
    r"|(?:EMERG|ALERT|CRIT|ERR|WARNING|NOTICE|INFO|DEBUG) )?"  # SONiC
)
# The name of the host may have been blacked out: <host>, ***, -node-07.
_KERNEL_TAG = re.compile(rf"(?:(?P<host>[A-Za-z0-9<*-][\w.\-<>*]*)\s+)?{_SYSLOG_LEVEL}(?:kernel|vmkernel):\s?")
_LEVELS = re.compile(r"(?:\[(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|tid \d+)\]\s*)+")
# VMware: cpu12:2097)MESSAGE, with the level before it.
_VMKERNEL = re.compile(r"(?:[A-Z][a-z]\(\d+\) )?(?:vmkernel: )?cpu\d+:\d+(?: \S+)?\)(?:\w+: \d+: )?")
# A program that writes down what a serial console printed.
_CONSOLE = re.compile(r"(?:UART|SOL|console|serial|ttyS\d{1,2}): (?=\[ *\d{1,10}\.\d{3,9}\])")
# After the time of a collector: the stream of a container (CRI), the labels of Loki, the date of the line itself, the sender of
# a console over the network.
_WRAPPER = re.compile(
    r"(?:stdout|stderr) [FP] |\{[\w.\-]+=\"[^}]{0,500}\} |(?=\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)"
    r"|(?P<sender>\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?:? (?=<\d{1,3}>|\[ {0,5}\d+\.\d{6}\]|\d{1,5},\d+,\d+,)"
)
# What kubectl tells of a node: LAST SEEN, TYPE, REASON, OBJECT before the message, which may be the kernel's.
_EVENT = re.compile(r"(?:\S+ +){1,2}Warning +[A-Z]\w+ +node/(?P<host>[\w.-]+) +(?:kernel: )?")
# What pdsh, clush, grep -n, grep -H, docker compose, kubectl logs --prefix and multitail put before a line.
_AROUND = re.compile(
    r"(?:>[ \t]{0,4}){0,4}[\"'`]?(?:(?P<file>(?=[\w+@-]*[/.])[\w./+@-]+):)?(?:\d{1,9}(?:[:-]|[ \t]+(?=[\[<])))?"
    r"(?:(?P<host>[A-Za-z][\w.-]*|\d{1,3}(?:\.\d{1,3}){3}(?=:))(?: *\||:| (?=\d{4}-\d\d-\d\dT)) ?|\[pod/[\w./-]+\] )?"
)
_DATES_OF_DIGITS = (ISO, SYSLOG, log_time.SLASHED, UNIX, log_time.AMERICAN, log_time.CHINESE)
_DATES_OF_WORDS = (SYSLOG, ISO, log_time.CHINESE)
# First words of kernel messages that look like a host's name before "word:".
_DRIVER_WORDS = """
    nvme pcieport mlx5_core mlx4_core nvidia nvidia-gpu nvidia-nvswitch EDAC block sd sr ata scsi pci usb ahci igb ixgbe i40e ice
    bnxt_en snd_hda_intel xhci_hcd mpt3sas megaraid_sas vfio-pci pciehp amdgpu Buffer print_req_error INFO task BUG watchdog NMI
    Kernel Out oom-kill Memory EXT4-fs XFS BTRFS nfs rcu systemd-journald infiniband irdma efa hfi1 md dm device-mapper
"""
_DRIVERS = frozenset(_DRIVER_WORDS.split())


@dataclass(slots=True)
class LogLine:
    """`kernel` is True or False where the prefix tells who spoke, None where nothing does; `start` is its place in the text. `odd`
    is why its prefix could not be read.

    Not frozen: every line that is looked at is one, and a frozen one takes four times as long to make.
    """

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
    odd: str = ""


def parse(raw: str, *, number: int, start: int = 0) -> LogLine:
    raw = clean(raw[:LONGEST])
    try:
        line = _parsed(raw, number)
    except MISSHAPEN as error:
        line = LogLine(number, raw, raw.lstrip(), Moment(), odd=repr(error))
    line.start = start
    return line


def _parsed(raw: str, number: int) -> LogLine:
    if raw.startswith("{") and (entry := log_json.entry(raw)) is not None:
        return _from_json(entry, raw=raw, number=number)
    line = _from_text(raw, number=number)
    return line if line.prefixed else _from_around(line)


def _from_around(line: LogLine) -> LogLine:
    """A line with something before its own prefix, as tools that gather logs print it; only if a prefix follows."""
    if match := _EVENT.match(line.message):
        return replace(line, message=line.message[match.end() :], host=match["host"], prefixed=True)
    match = _AROUND.match(line.message)
    if not match or not match.end():
        return line
    rest = line.message[match.end() :]
    if rest.startswith("{") and (entry := log_json.entry(rest)) is not None:
        inner = _from_json(entry, raw=line.raw, number=line.number)
    else:
        inner = _from_text(rest, number=line.number)
    if not inner.prefixed or match["host"] in _DRIVERS:
        return line
    return replace(inner, raw=line.raw, host=inner.host or match["host"])


def _from_text(raw: str, *, number: int) -> LogLine:
    rest = raw.lstrip()
    if match := _PRIORITY.match(rest):
        rest = rest[match.end() :]
        if match := _RFC5424.match(rest):
            return _from_rfc5424(match, rest, raw=raw, number=number)
    if match := _FACILITY.match(rest):
        return _kernel(rest[match.end() :], raw=raw, number=number)
    if match := _KMSG.match(rest):
        moment = Moment(uptime_s=int(match["micros"]) / 1e6)
        return LogLine(number, raw, rest[match.end() :], moment, kernel=True, prefixed=True)
    if UPTIME.match(rest) or HUMAN.match(rest) or DELTA.match(rest):
        return _kernel(rest, raw=raw, number=number)
    if match := _date(rest):
        if wrapped := _WRAPPER.match(rest, match.end()):
            inner = _unwrapped(rest[wrapped.end() :], log_time.moment(match), raw=raw, number=number)
            return replace(inner, host=inner.host or wrapped["sender"])
        dmesg = "," in match.group(0) and "T" in match.group(0)
        return _after_date(rest[match.end() :], log_time.moment(match), raw=raw, number=number, dmesg=dmesg)
    if match := KLOG.match(rest):
        return LogLine(
            number, raw, rest[match.end() :], log_time.moment(match), None, match["tag"], False, prefixed=True
        )
    if match := LOGFMT.match(rest):  # a program that writes key=value; the message stays in its place
        return LogLine(number, raw, rest, log_time.moment(match), kernel=False, prefixed=True)
    if match := _KERNEL_TAG.match(rest):
        moment, message = _uptime(rest[match.end() :])
        return LogLine(number, raw, message, moment, match["host"], "kernel", True, prefixed=True)
    if match := _PROGRAM.match(rest):
        return LogLine(number, raw, rest[match.end() :], Moment(), None, match["tag"], False, prefixed=True)
    return LogLine(number, raw, rest, Moment())


def _date(rest: str) -> re.Match[str] | None:
    forms = _DATES_OF_DIGITS if rest[:1].isdigit() or rest[:1] == "[" else _DATES_OF_WORDS
    return next((match for form in forms if (match := form.match(rest))), None)


def _unwrapped(rest: str, moment: Moment, *, raw: str, number: int) -> LogLine:
    """What a collector put its own time before: the line as it was, with the collector's time where it had none."""
    inner = _from_text(rest, number=number)
    return replace(inner, raw=raw, moment=_own_or(inner.moment, moment), prefixed=True)


def _own_or(own: Moment, collector: Moment) -> Moment:
    """The line's own time before the collector's; a time without its year takes the year in which it was collected."""
    if own.at and not own.has_year and collector.at:
        return log_time.with_year_near(own, collector.at)
    return own if own.at else merge(collector, own)


def _kernel(rest: str, *, raw: str, number: int) -> LogLine:
    """What dmesg prints: any stack of bracketed times, then perhaps "host kernel:" where a collector put it."""
    moment, host, kernel = Moment(), None, True
    for _ in range(3):
        match = UPTIME.match(rest) or HUMAN.match(rest) or DELTA.match(rest) or ISO.match(rest)
        if not match:
            break
        moment = merge(moment, log_time.moment(match))
        rest = rest[match.end() :]
    if match := _KERNEL_TAG.match(rest):
        host, rest = match["host"], rest[match.end() :]
        later, rest = _uptime(rest)
        moment = merge(moment, later)
    elif match := _LEVELS.match(rest):
        kernel, rest = False, rest[match.end() :]
    elif match := _IN_BUFFER.match(rest):
        return LogLine(number, raw, rest[match.end() :], moment, match["host"], match["tag"], False, prefixed=True)
    return LogLine(number, raw, rest, moment, host, "kernel" if kernel else None, kernel, prefixed=True)


def _after_date(rest: str, moment: Moment, *, raw: str, number: int, dmesg: bool) -> LogLine:
    if match := _KERNEL_TAG.match(rest):
        later, message = _uptime(rest[match.end() :])
        return LogLine(number, raw, message, merge(moment, later), match["host"], "kernel", True, prefixed=True)
    if match := _VMKERNEL.match(rest):
        return LogLine(number, raw, rest[match.end() :], moment, None, "kernel", True, prefixed=True)
    if dmesg:
        return LogLine(number, raw, rest, moment, None, "kernel", True, prefixed=True)
    if match := KLOG.match(rest):
        return LogLine(number, raw, rest[match.end() :], moment, None, match["tag"], False, prefixed=True)
    match = _TAG.match(rest)
    if match and match["host"] and match["host"] not in _DRIVERS:
        if console := _CONSOLE.match(rest, match.end()):
            later, message = _uptime(rest[console.end() :])
            return LogLine(number, raw, message, merge(moment, later), match["host"], "kernel", True, prefixed=True)
        kernel = match["tag"] == "kernel"
        return LogLine(number, raw, rest[match.end() :], moment, match["host"], match["tag"], kernel, prefixed=True)
    if match and match["pid"]:
        return LogLine(number, raw, rest[match.end() :], moment, None, match["tag"], False, prefixed=True)
    if UPTIME.match(rest):
        later, rest = _uptime(rest)
        return LogLine(number, raw, rest, merge(moment, later), None, "kernel", True, prefixed=True)
    return LogLine(number, raw, rest, moment, prefixed=True)


def _from_rfc5424(match: re.Match[str], rest: str, *, raw: str, number: int) -> LogLine:
    host, tag = (None if value == "-" else value for value in (match["host"], match["tag"]))
    later, message = _uptime(rest[match.end() :])
    moment = merge(log_time.from_text(match["stamp"]), later)
    return LogLine(number, raw, message, moment, host, tag, tag == "kernel", prefixed=True)


def _from_json(entry: log_json.Entry, *, raw: str, number: int) -> LogLine:
    message = clean(entry.message)
    if entry.kernel is None:  # the envelope of a collector: the line as it was
        inner = _from_text(message, number=number)
        return replace(
            inner,
            raw=message or raw,
            moment=_own_or(inner.moment, entry.moment),
            host=inner.host or entry.host,
            prefixed=True,
        )
    later, message = _uptime(message) if entry.kernel else (Moment(), message)
    return LogLine(
        number, message or raw, message, merge(entry.moment, later), entry.host, entry.tag, entry.kernel, entry.boot, prefixed=True
    )  # fmt: skip


def _uptime(text: str) -> tuple[Moment, str]:
    match = UPTIME.match(text)
    return (log_time.moment(match), text[match.end() :]) if match else (Moment(), text)
