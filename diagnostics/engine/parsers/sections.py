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

from diagnostics.engine.types import Part

LARGEST = 64 << 20  # bytes; what is larger is a log

_COMMANDS = (
    "nvidia-smi nvidia-bug-report nvidia-imex-ctl nvidia-debugdump dcgmi dmesg journalctl lspci ipmitool ipmi-sel ipmi-sensors "
    "ipmi-chassis ipmi-config bmc-info smartctl nvme mdadm storcli storcli64 perccli perccli64 edac-util ras-mc-ctl mcelog lsblk lscpu "
    "dmidecode numactl sensors ibstat ibstatus ibv_devinfo ibdev2netdev ibqueryerrors iblinkinfo perfquery sminfo mlxlink mst ethtool "
    "show_gids ip rdma systemctl timedatectl chronyc ntpq df free mount findmnt uptime who last ps top vmstat iostat ulimit sysctl cat "
    "tail head grep zgrep zcat docker podman crictl ctr kubectl nerdctl curl redfishtool lsmod modinfo uname hostname rocm-smi zpool "
    "ping ssh crontab lsof ls sinfo scontrol squeue nvsm"
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
_BORDER = re.compile(rb"(?m)^(?:_{30}|\*\*\* |==> |[=#*~-]{2}|\+|>>|\[|\(|[\w.-]{0,40}@|[#$%] )")


@dataclass(frozen=True, slots=True)
class Section:
    """`part` holds the lines below the border; its `first_line` counts in the whole file. `node`: the host in the prompt."""

    part: Part
    node: str | None = None


def split(part: Part) -> list[Section]:
    """One section, the whole, where no line names a command."""
    data = part.data
    if len(data) > LARGEST or not _BORDER.search(data):
        return [Section(part)]
    borders = list(_borders(data))
    if not borders:
        return [Section(part)]
    cuts = [(0, 0, None), *borders, (len(data), len(data), None)]
    found = []
    line, counted = part.first_line, 0
    for (_, start, node), (end, _, _) in pairwise(cuts):
        if not data[start:end].strip():
            continue
        line += data.count(b"\n", counted, start)
        counted = start
        found.append(Section(Part(part.name, data[start:end], line), node))
    return found or [Section(part)]


def _borders(data: bytes) -> Iterator[tuple[int, int, str | None]]:
    """Where a section ends, where the next begins, and the host of the prompt between."""
    for mark in _BORDER.finditer(data):
        end = data.find(b"\n", mark.start())
        end = len(data) if end < 0 else end
        if end - mark.start() > 400:
            continue
        text = data[mark.start() : end].decode(errors="replace").strip()
        if match := _PROMPT.match(text):
            yield mark.start(), end + 1, _host(match["host"])
        elif _RULE.match(text) or _TAIL.match(text) or _PROC.match(text) or _HEADING.match(text):
            yield mark.start(), end + 1, None


def _host(name: str | None) -> str | None:
    return PurePosixPath(name).name if name and name != "localhost" else None
