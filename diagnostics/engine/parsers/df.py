"""df in its forms: sizes (-h, -k, -B), inodes (-i), chosen columns (--output), other languages, rows wrapped after a long name.

Filesystem     Type 1K-blocks     Used Available Use% Mounted on
/dev/nvme0n1p2 ext4 936640512 88123456 800000000  10% /
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches

_TITLES = re.compile(r"Mounted on|Filesystem|\S+")
_SIZE = re.compile(r"(?P<number>\d+(?:[.,]\d+)?)(?P<unit>[KMGTPE]?)i?B?")
_ROW = re.compile(
    r"(?P<source>\S.{0,300}?)\s+(?:(?P<type>[A-Za-z][\w.]*)\s+)?(?P<size>[\d.,]+[KMGTPE]?i?)\s+(?P<used>[\d.,]+[KMGTPE]?i?)\s+"
    r"(?P<available>-?[\d.,]+[KMGTPE]?i?)\s+(?P<share>\d+)%\s+(?P<mount>/.*)"
)
_WRAPPED = re.compile(r"\s+[\d.,]+[KMGTPE]?i?\s+[\d.,]+[KMGTPE]?i?\s+[\d.,]+[KMGTPE]?i?\s+\d+%\s+/")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
_NAMES = {
    "Filesystem": "source", "Type": "type", "Mounted on": "mount", "Used": "used", "Avail": "available", "Available": "available",
    "Use%": "share", "Capacity": "share", "Inodes": "inodes", "IUsed": "inodes_used", "IFree": "inodes_free", "IUse%": "inodes_share",
    "Size": "size", "%iused": "inodes_share", "iused": "inodes_used", "ifree": "inodes_free", "File": "file",
}  # fmt: skip
_CSV_HEAD = re.compile(
    r"(?im)^(?=.*\bmount)(?=.*(?:use_?d?_?p|use%|used%|pcent|capacity))[\w %\"]+(?:,[\w %\"]+){3,}\r?$"
)
_CSV_WORD = re.compile(r"[^a-z]|bytes|_kb|percent|pct|pcent|%")
_CSV_NAMES = {
    "host": "host", "hostname": "host", "node": "host", "filesystem": "source", "device": "source", "source": "source", "type": "type",
    "fstype": "type", "size": "size", "total": "size", "used": "used", "avail": "available", "available": "available", "free": "available",
    "use": "share", "usage": "share", "capacity": "share", "inodeuse": "inodes_share", "inodesuse": "inodes_share", "iuse": "inodes_share",
    "inodeused": "inodes_share", "inodesused": "inodes_share", "iused": "inodes_share", "mount": "mount", "mountpoint": "mount",
    "mountedon": "mount", "target": "mount",
}  # fmt: skip
_BLOCKS = re.compile(r"(?P<number>\d+)(?P<unit>[KMG]?)B?-blocks")


@dataclass(frozen=True, slots=True)
class FileSystem:
    """`share` and `inodes_share` are used percent as printed; -1 where not printed. Sizes are bytes."""

    source: str
    type: str
    mount: str
    size: float
    used: float
    available: float
    share: int
    inodes_share: int
    number: int
    raw: str
    host: str | None = None


def file_systems(text: str) -> Iterator[FileSystem]:
    if head := _CSV_HEAD.search(text):
        yield from _of_csv(text, head.start())
        return
    titles: list[str] = []
    block, pending, inodes = 1.0, "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw[:1000].rstrip()
        if line.startswith("Filesystem") and "Mounted on" in line:
            titles, block, pending = _titles(line), _block(line), ""
            inodes = "IUse%" in line or "Inodes" in line
            continue
        if pending and _WRAPPED.match(line):
            line = f"{pending} {line.strip()}"
        pending = line if line and " " not in line else ""
        if found := _by_titles(titles, line, block, number) or _by_form(line, block, number, inodes=inodes):
            yield found


def _of_csv(text: str, start: int) -> Iterator[FileSystem]:
    """A table of a script: a share may stand without its sign, sizes are bytes if their title says so."""
    first = text.count("\n", 0, start) + 1
    rows = text[start:].splitlines()
    names = [_csv_name(title.strip(' "').lower()) for title in rows[0].split(",")]
    block = 1.0 if "byte" in rows[0].lower() else 1024.0
    for number, raw in enumerate(rows[1:], first + 1):
        cells = [cell.strip().strip('"') for cell in raw[:1000].split(",")]
        row = dict(zip(names, cells, strict=False))
        if len(cells) != len(names) or not row.get("mount", "").startswith("/"):
            continue
        share, inodes = (
            _percent(f"{row.get(name, '').rstrip('%').split('.')[0]}%") for name in ("share", "inodes_share")
        )
        if max(share, inodes) < 0:
            continue
        size, used, available = (_bytes(row.get(name), block) for name in ("size", "used", "available"))
        yield FileSystem(
            row.get("source", ""), row.get("type", ""), row["mount"], size, used, available, share, inodes, number, raw.strip(),
            row.get("host"),
        )  # fmt: skip


def _csv_name(title: str) -> str:
    name = _CSV_NAMES.get(_CSV_WORD.sub("", title), title)
    return "share" if name == "used" and re.search("%|pct|percent|pcent", title) else name


def _titles(line: str) -> list[str]:
    found = _TITLES.findall(line)
    return [_NAMES.get(title, "size" if title.endswith("-blocks") else title) for title in found]


def _block(line: str) -> float:
    match = _BLOCKS.search(line)
    return float(match["number"]) * _UNITS[match["unit"]] if match else 1.0


def _by_titles(titles: list[str], line: str, block: float, number: int) -> FileSystem | None:
    cells = line.split(None, max(len(titles) - 1, 0))
    if not titles or len(cells) != len(titles) or "mount" not in titles:
        return None
    row = dict(zip(titles, cells, strict=True))
    share, inodes_share = _percent(row.get("share")), _percent(row.get("inodes_share"))
    if not row["mount"].startswith("/") or max(share, inodes_share) < 0:
        return None
    size, used, available = (_bytes(row.get(name), block) for name in ("size", "used", "available"))
    return FileSystem(
        row.get("source", ""),
        row.get("type", ""),
        row["mount"],
        size,
        used,
        available,
        share,
        inodes_share,
        number,
        line.strip(),
    )


def _by_form(line: str, block: float, number: int, *, inodes: bool) -> FileSystem | None:
    match = _ROW.match(line)
    if not match:
        return None
    share = int(match["share"])
    size, used, available = (_bytes(match[name], block) for name in ("size", "used", "available"))
    if inodes:
        size, share, inodes_share = 0.0, -1, share
    else:
        inodes_share = -1
    return FileSystem(
        match["source"],
        match["type"] or "",
        match["mount"],
        size,
        used,
        available,
        share,
        inodes_share,
        number,
        line.strip(),
    )


def _percent(text: str | None) -> int:
    return int(text[:-1]) if text and text.endswith("%") and text[:-1].isdigit() else -1


def _bytes(text: str | None, block: float) -> float:
    match = _SIZE.fullmatch(text or "")
    if not match:
        return 0.0
    number = float(match["number"].replace(",", "."))
    return number * _UNITS[match["unit"]] if match["unit"] else number * block


TEXT_KINDS: TextKinds = (
    ("df", matches(r"(?m:^Filesystem\s.*Mounted on)")),
    ("df", lambda head: _CSV_HEAD.search(head) is not None),
    (
        "df",
        matches(r"(?m:^/dev/\S+\s+(?:[a-z]\w*\s+)?[\d.,]+[KMGTPE]?\s+[\d.,]+[KMGTPE]?\s+[\d.,]+[KMGTPE]?\s+\d+%\s+/)"),
    ),
)
