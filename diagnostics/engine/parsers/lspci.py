"""lspci -vv: devices with their link, and the bridges above them."""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds

_DEVICE = re.compile(r"(?P<pci>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<what>.*)")
_LINK = re.compile(r"\s+(?P<which>LnkCap|LnkSta):.*?Speed (?P<speed>[\d.]+)GT/s[^,]*, Width x(?P<width>\d+)")
_BUS = re.compile(r"\s+Bus: primary=\w+, secondary=(?P<secondary>[0-9a-f]{2})")


@dataclass(slots=True)
class Device:
    pci: str
    what: str
    most_width: int = 0
    width: int = 0
    link_line: tuple[int, str] = (0, "")
    secondary_bus: str = ""

    @property
    def bus(self) -> str:
        return self.pci.split(":")[-2]


def devices(text: str) -> list[Device]:
    found: list[Device] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _DEVICE.match(raw):
            found.append(Device(match["pci"], match["what"]))
        elif found and (match := _LINK.match(raw)):
            if match["which"] == "LnkCap":
                found[-1].most_width = int(match["width"])
            else:
                found[-1].width, found[-1].link_line = int(match["width"]), (number, raw.strip())
        elif found and (match := _BUS.match(raw)):
            found[-1].secondary_bus = match["secondary"]
    return found


def looks_like(head: str) -> bool:
    rows = [row for row in head.splitlines()[:100] if row.strip() and not row[0].isspace()]
    return bool(rows) and sum(bool(_DEVICE.match(row)) for row in rows) * 2 > len(rows)


TEXT_KINDS: TextKinds = (("lspci", looks_like),)
