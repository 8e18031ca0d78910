"""A file that holds the output of several commands: cut at the lines that name the next command.

____________________________________________        nvidia-bug-report.log; also *** /proc/driver/nvidia/version
==> /var/log/kern.log <==                           tail, head
root@gpu-a17:~# nvidia-smi -q                       a pasted terminal
===== ipmitool sel elist =====                      scripts that gather; also ### df -h ###, --- lspci -vv, + dmesg -T, [dmesg]
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from diagnostics.engine.parsers import hosts, text
from diagnostics.engine.types import Part

LARGEST = 64 << 20  # bytes; what is larger is a log
MOST = 256 << 20  # bytes of all sections, each counted once for every host that it is of ...
_LEAST = 16 << 10  # ... and as so many bytes at least: to judge one has its price, however short it is
_HEAD = 1 << 16  # bytes that tell whether each line begins with its host

_COMMANDS = (
    "nvidia-smi nvidia-bug-report nvidia-imex-ctl nvidia-debugdump dcgmi dmesg journalctl lspci ipmitool ipmi-sel ipmi-sensors "
    "ipmi-chassis ipmi-config ipmi-power ipmipower ipmiconsole ipmi-fru ipmi-dcmi ipmi-raw ipmi-oem ipmi-ping bmc-info bmc-device racadm "
    "ilorest smartctl nvme mdadm storcli storcli64 perccli perccli64 edac-util ras-mc-ctl mcelog lsblk lscpu "
    "dmidecode numactl sensors ibstat ibstatus ibv_devinfo ibdev2netdev ibqueryerrors iblinkinfo perfquery sminfo mlxlink mst ethtool "
    "show_gids ip rdma systemctl timedatectl chronyc ntpq df free mount findmnt uptime who last ps top vmstat iostat ulimit sysctl cat "
    "tail head grep zgrep zcat docker podman crictl ctr kubectl nerdctl curl redfishtool lsmod modinfo uname hostname rocm-smi zpool "
    "ping ssh crontab lsof ls sinfo scontrol squeue nvsm pdsh clush pssh parallel-ssh ansible srun salt last modprobe dkms tuned-adm sar"
)
_COMMAND = (
    rf"(?:/[\w./-]*/)?(?:{'|'.join(re.escape(name) for name in sorted(_COMMANDS.split(), key=len, reverse=True))})"
)
_SUDO = r"(?:sudo(?: -\w+)* )?"
# With the name of a host any command cuts, and a prompt that waits too; without one only a command that is known.
_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\) )?\[?[\w.-]{1,40}@(?P<host>[\w.-]{1,80})(?:[: ][~/\w. -]{0,120})?\]?[#$%](?: |$)"
    rf"|(?:\([\w.-]{{1,40}}\) )?[#$%] ?{_SUDO}{_COMMAND}(?![\w.-])"
)
_RULER = r"(?:[=#*~-]{2,}|\+|>{2,}|\[)\s*(?:[Cc]ommand|[Oo]utput of|[Rr]unning|CMD|\$)?:?\s*[`'\"]?"
_HEADING = re.compile(rf"{_RULER}{_SUDO}{_COMMAND}(?![\w.:-])")
_TAIL = re.compile(r"==> (?P<file>\S.*) <==$")
_RULE = re.compile(r"_{30,}$")
_PROC = re.compile(r"\*\*\* (?:ls: .*)?/\w")
# The device stands only in the command: its line stays with what it printed.
_NAMES_DEVICE = re.compile(
    r"\bnvidia-smi .*--query-[\w-]+[= ].*noheader|\b(?:mlxlink|ethtool|smartctl|nvme) (?!.*(?:--json|-[a-z]*j\b|-o ?json|--output-format))"
)
# A tool that asks a BMC over the network names it; so does a command without its prompt.
_BMC_TOOL = r"(?:ipmitool|ipmi-[a-z]{2,12}|ipmipower|ipmiconsole|bmc-(?:info|device|config))"
_BARE = re.compile(rf"{_SUDO}{_BMC_TOOL} +-{{1,2}}\w")
_ASKED = re.compile(
    rf"\b(?:{_BMC_TOOL}|racadm|redfishtool)\s(?:.{{0,300}}?\s)?(?:-H|-h|-r|--hostname|--host)[ =]?(?P<host>[A-Za-z0-9][\w.:-]*)"
    r"|\bcurl\s.{0,300}?https?://(?:[^@/\s]{1,80}@)?(?P<host2>[\w.-]+)(?::\d+)?/redfish\b"
    r"|\bping\s(?:.{0,80}?\s)?(?P<host3>[A-Za-z0-9][\w.:-]*)$"
)
_BORDER = re.compile(
    rb"(?m)^(?:_{30}|\*\*\* |==> |[=#*~-]{2}|\+|>>|\[|\(|[\w.-]{0,40}@|[#$%] |[\w.-]{1,80} \| [A-Z]|(?:sudo )?(?:ipmi|bmc-))"
)


class Border(NamedTuple):
    """Where a section ends, where the next begins, the hosts that the lines between name, and the command."""

    start: int
    end: int
    nodes: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """`part` holds the lines below the border; its `first_line` counts in the whole file. `nodes`: the host in the prompt, or all
    hosts that printed the same.

    `numbers` are those of its lines, counted from the first, where they do not stand one after the other. `command` is what printed it.
    """

    part: Part
    nodes: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    command: str = ""

    @property
    def weight(self) -> int:
        """Bytes, as if each host had printed them on its own."""
        return max(len(self.part.data), _LEAST) * max(len(self.nodes), 1)


class Sections(NamedTuple):
    """The sections in order; `unread_from` is the line at which there were too many, 0 if all are here."""

    found: list[Section]
    unread_from: int = 0


def split(part: Part) -> Sections:
    """One section, the whole, where no line names a command."""
    found: list[Section] = []
    weight = 0
    for one in (one for section in _by_commands(part) for one in _by_hosts(section)):
        weight += one.weight
        if found and weight > MOST:
            return Sections(found, one.part.first_line)
        found.append(one)
    return Sections(found or [Section(part)])


def _by_hosts(section: Section) -> list[Section]:
    """The lines of each host on their own, where every line begins with its host."""
    part = section.part
    if part.rest or len(part.data) > LARGEST or not hosts.may_be_prefixed(text.decode(part.data[:_HEAD])):
        return [section]
    found = hosts.by_prefix(text.decode(part.data))
    return [
        Section(Part(part.name, one.text.encode(), part.first_line), (one.host,), one.numbers, section.command)
        for one in found
    ] or [section]


def _by_commands(part: Part) -> Iterator[Section]:
    data = part.data
    if len(data) > LARGEST or not _BORDER.search(data):
        yield Section(part)
        return
    line, counted = part.first_line, 0
    for border, following in pairwise((Border(0, 0), *_borders(data), Border(len(data), len(data)))):
        start, end = border.end, following.start
        if not data[start:end].strip():
            continue
        line += data.count(b"\n", counted, start)
        counted = start
        rest = part.rest if end == len(data) else None
        yield Section(Part(part.name, data[start:end], line, rest), border.nodes, command=border.command)


def _borders(data: bytes) -> Iterator[Border]:
    below = 0
    for mark in _BORDER.finditer(data):
        if mark.start() < below:
            continue
        if data.startswith(b"----", mark.start()) and (
            heading := hosts.folded(data[mark.start() : mark.start() + 600])
        ):
            below = mark.start() + heading.size
            yield Border(mark.start(), below, heading.names)
            continue
        end = data.find(b"\n", mark.start())
        end = len(data) if end < 0 else end
        if end - mark.start() > 400:
            continue
        line = data[mark.start() : end].decode(errors="replace").strip()
        if match := _PROMPT.match(line):
            node = _asked(line) or _host(match["host"])
            begin = mark.start() if _NAMES_DEVICE.search(line) else end + 1
            yield Border(mark.start(), begin, (node,) if node else (), _command(line))
        elif _BARE.match(line) and (node := _asked(line)):
            yield Border(mark.start(), end + 1, (node,), line)
        elif host := hosts.of_block(line):
            yield Border(mark.start(), end + 1, (host,))
        elif _RULE.match(line) or _TAIL.match(line) or _PROC.match(line) or _HEADING.match(line):
            yield Border(mark.start(), end + 1, command=line)


def _command(line: str) -> str:
    """What stands behind the prompt."""
    return re.split(r"[#$%] ", line, maxsplit=1)[-1].strip()


def _host(name: str | None) -> str | None:
    return PurePosixPath(name).name if name and name != "localhost" else None


def _asked(line: str) -> str | None:
    """The machine that a command asks over the network: what is printed below is told of it, not of the host in the prompt."""
    match = _ASKED.search(line)
    return (match["host"] or match["host2"] or match["host3"]) if match else None
