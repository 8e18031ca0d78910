"""lspci (-D, -nn, -v, -vv, -vvv): devices with their link, their error bits, and the bridges above them.

0000:3b:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)
        Region 0: Memory at 23ffc2000000 (64-bit, prefetchable) [size=16M]
                LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
                LnkSta:	Speed 32GT/s, Width x16
                UESta:	DLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP- ECRC- UnsupReq- ACSViol-
"""

import re
from dataclasses import dataclass, field

from diagnostics.engine.parsers.recognise import TextKinds

_DEVICE = re.compile(r"(?P<pci>(?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<what>[^\s|].*)")
_LINK = re.compile(r"\s+(?P<which>LnkCap|LnkSta):.*?Speed (?:[\d.]+GT/s|unknown)[^,]*, Width x(?P<width>\d+)")
_BUS = re.compile(r"\s+Bus: primary=\w+, secondary=(?P<secondary>[0-9a-f]{2})")
_BITS = re.compile(r"\s+(?P<name>DevSta|UESta|UEMsk|CESta):\s+(?P<bits>.*)")
_NO_SPACE = re.compile(r"\s+Region \d+: Memory at <(?:unassigned|ignored)>")
_GONE = re.compile(r"\(rev ff\)|\s!!! Unknown header type 7f")
_DRIVER = re.compile(r"\s+Kernel driver in use: (?P<driver>\S+)")
_DISPLAY = re.compile(r"(?:3D|VGA compatible|Display) controller")
_WIDEST = 32

Line = tuple[int, str]


@dataclass(slots=True)
class Device:
    """`bits` are those that are set, by register; the lines prove what is said of the device."""

    pci: str
    what: str
    line: Line
    most_width: int = 0
    width: int = 0
    link_line: Line = (0, "")
    secondary_bus: str = ""
    is_gone: bool = False
    driver: str = ""
    no_space_line: Line | None = None
    bits: dict[str, frozenset[str]] = field(default_factory=dict)
    bit_lines: dict[str, Line] = field(default_factory=dict)

    @property
    def bus(self) -> str:
        """With its domain: buses of one number stand in several domains."""
        return self.pci.rsplit(":", 1)[0]

    @property
    def bus_below(self) -> str:
        return ":".join((*self.bus.split(":")[:-1], self.secondary_bus)) if self.secondary_bus else ""

    @property
    def is_gpu(self) -> bool:
        return "NVIDIA" in self.what and bool(_DISPLAY.match(self.what))

    @property
    def is_nvswitch(self) -> bool:
        return "NVIDIA" in self.what and "controller" not in self.what and self.what.startswith("Bridge")

    @property
    def is_virtual(self) -> bool:
        return "Virtual Function" in self.what

    @property
    def is_rdma_adapter(self) -> bool:
        return "Mellanox" in self.what and "controller" in self.what


def devices(text: str) -> list[Device]:
    found: list[Device] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _DEVICE.match(raw):
            gone = bool(_GONE.search(raw))
            found.append(Device(match["pci"], match["what"], (number, raw.strip()), is_gone=gone))
        elif found:
            _add(found[-1], raw, (number, raw.strip()))
    return found


def _add(device: Device, raw: str, line: Line) -> None:
    if match := _LINK.match(raw):
        width = int(match["width"]) if int(match["width"]) <= _WIDEST else 0
        if match["which"] == "LnkCap":
            device.most_width = width
        else:
            device.width, device.link_line = width, line
    elif match := _BUS.match(raw):
        device.secondary_bus = match["secondary"]
    elif match := _BITS.match(raw):
        device.bits[match["name"]] = frozenset(word[:-1] for word in match["bits"].split() if word.endswith("+"))
        device.bit_lines[match["name"]] = line
    elif match := _DRIVER.match(raw):
        device.driver = match["driver"]
    elif _NO_SPACE.match(raw):
        device.no_space_line = device.no_space_line or line
    elif _GONE.search(raw):
        device.is_gone, device.line = True, line


def looks_like(head: str) -> bool:
    rows = [row for row in head.splitlines()[:100] if row.strip() and not row[0].isspace()]
    return bool(rows) and sum(bool(_DEVICE.match(row)) for row in rows) * 2 > len(rows)


TEXT_KINDS: TextKinds = (("lspci", looks_like),)
