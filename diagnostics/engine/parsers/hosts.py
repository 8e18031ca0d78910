"""One text of several machines, as the tools that ask many of them at once print it.

gn-1: running                                       pdsh, clush: each line begins with its host
gn-3 | CHANGED | rc=0 >>                            ansible: the host above its output; also gn-3 | FAILED! => ...
[2] 10:20:30 [SUCCESS] gn-3                         pssh -i
---------------- / gn-[1-3] / ----------------      dshbak -c, clush -b: alike output of several hosts, shown once
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from diagnostics.engine.parsers import log_line

MOST_HOSTS = 512
_SAMPLE = 400  # lines that tell whether each begins with its host
_PREFIXED = re.compile(r"(?P<host>[A-Za-z0-9][\w.-]{1,80}):(?: (?P<rest>.*)|)$")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
# Parts of one machine that stand before a colon in the outputs of tools.
_DEVICE = re.compile(
    r"(?i)(?:gpu\d|(?:mlx\d|nvme|eth|en[ops]\d|ib[sp]?\d|bond|veth|docker|cali|lo|fan|cpu|psu|ps|dimm|temp|port|lane|slot|sd[a-z]|md|dm|"
    r"mc|loop|core|bank|link|in|out|pci|usb|ata|scsi|tty|irq|numa|rank|row|page|level|line|col|step|run|test|phase|part|p|vol|disk|"
    r"drive|hdd|ssd|sensor|rail|channel|chan|lun|mount|group|switch|module|nic|qsfp|sfp|x|\d+)[\d_.]*[a-z]?[\d.]*)"
)
_BLOCK = re.compile(
    r"(?P<host>[\w.-]{1,80}) \| (?:CHANGED|SUCCESS|FAILED!?|UNREACHABLE!)(?: \| rc=-?\d+)? (?:>>|\(stdout\))"
    r"|\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<host2>[\w.-]{1,80})\b"
)
_FOLDED = re.compile(rb"-{4,}\r?\n[ \t]*(?P<hosts>[\w.\[\],-]{2,300})(?: \(\d+\))?[ \t]*\r?\n-{4,}\r?\n")
_RANGE = re.compile(r"\[([\d,-]+)\]")


@dataclass(frozen=True, slots=True)
class Output:
    """What one host printed, and the number that each of its lines has in the text."""

    host: str
    text: str
    numbers: tuple[int, ...]


def may_be_prefixed(head: str) -> bool:
    return _is_prefixed([line for line in head.splitlines()[:_SAMPLE] if line.strip()])


def by_prefix(text: str) -> list[Output]:
    """One for each host if (nearly) every line begins with the name of one; else nothing."""
    lines = text.splitlines()
    if not may_be_prefixed("\n".join(lines[:_SAMPLE])):
        return []
    found: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(lines, 1):
        if match := _PREFIXED.match(line):
            found.setdefault(match["host"], []).append((number, (match["rest"] or "")))
    if len(found) > MOST_HOSTS:
        return []
    return [
        Output(host, "\n".join(rest for _, rest in rows) + "\n", tuple(number for number, _ in rows))
        for host, rows in found.items()
    ]


def _is_prefixed(sample: list[str]) -> bool:
    """A log with hosts before its own prefixes is left whole: its lines tell their host themselves."""
    matches = [match for line in sample if (match := _PREFIXED.match(line)) and _may_name_host(match["host"])]
    if len(sample) < 2 or len(matches) < len(sample) * 0.9:
        return False
    names = {match["host"] for match in matches}
    if len(names) > max(2, len(matches) * 0.8) or len({re.sub(r"\d+", "#", name) for name in names}) > 8:
        return False
    rests = [(match["rest"] or "") for match in matches if (match["rest"] or "").strip()][:40]
    return sum(log_line.parse(rest, number=1).prefixed for rest in rests) * 3 < len(rests)


def _may_name_host(name: str) -> bool:
    if _ADDRESS.fullmatch(name):
        return True
    return any(c.isdigit() for c in name) and any(c.isalpha() for c in name) and not _DEVICE.fullmatch(name)


def of_block(line: str) -> str | None:
    """The host that a line above its output names."""
    match = _BLOCK.match(line)
    return (match["host"] or match["host2"]) if match else None


class Heading(NamedTuple):
    """The hosts that an output is of, above it; `size` is how many bytes it takes."""

    names: tuple[str, ...]
    size: int


def folded(head: bytes) -> Heading | None:
    match = _FOLDED.match(head)
    names = expanded(match["hosts"].decode()) if match else []
    return Heading(tuple(names), match.end()) if match and names else None


def expanded(names: str) -> list[str]:
    """`gn-[1-3,7],gx-1` -> gn-1, gn-2, gn-3, gn-7, gx-1; nothing where that is no list of hosts."""
    found: list[str] = []
    for name in re.findall(r"[^,\[]*(?:\[[^\]]*\][^,\[]*)?", names):
        if not name:
            continue
        match = _RANGE.search(name)
        numbers = islice(_numbers(match[1]), MOST_HOSTS + 1) if match else [""]
        found += [f"{name[: match.start()]}{number}{name[match.end() :]}" if match else name for number in numbers]
        if len(found) > MOST_HOSTS:
            return []
    return found if all(_may_name_host(name) for name in found) else []


def _numbers(ranges: str) -> Iterator[str]:
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if not first or not (last or first).isdigit():
            continue
        for number in range(int(first), min(int(last or first), int(first) + MOST_HOSTS) + 1):
            yield str(number).zfill(len(first))
