"""What the driver's lines tell of the boards themselves, before it tells what is wrong with them.

NVRM: GPU at PCI:0000:89:00: GPU-1b2c3d4e-aaaa-bbbb-cccc-0123456789ab
NVRM: GPU Board Serial Number: 1652222012345                               of the board in the line before
NVRM: GPU 0000:89:00.0: GPU serial number is 1652222012345.
"""

import re
from collections.abc import Iterator

from diagnostics.engine import components
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from incidents.domain.hardware import PartFacts

LITERALS = ("NVRM: GPU at PCI:", "GPU Board Serial Number:", "GPU serial number is ")
_AT = re.compile(r"NVRM: GPU at (?P<pci>PCI:[0-9a-fA-F:.]+): (?P<uuid>GPU-[0-9a-fA-F-]{8,40})")
_BOARD = re.compile(r"NVRM: GPU Board Serial Number: (?P<serial>\w{4,40})")
_OF = re.compile(r"NVRM: GPU (?P<pci>[0-9a-fA-F:.]+): GPU serial number is (?P<serial>\w{4,40})")
_MOST = 256


class GpuNames:
    """The judge that finds no fault; one for each source."""

    def __init__(self, source_name: str) -> None:
        self._names: dict[tuple[str | None, str], dict[str, str]] = {}

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if match := _AT.match(line.message) or _OF.match(line.message):
            self._learn(line, match["pci"], match.groupdict())
        elif match := _BOARD.match(line.message):
            before = next(iter(log.before(line, count=1)), None)
            if before and (at := _AT.match(before.message)):
                self._learn(line, at["pci"], match.groupdict())
        return iter(())

    def _learn(self, line: LogLine, pci: str, names: dict[str, str]) -> None:
        address = components.pci(pci, board=True)
        if address and len(self._names) < _MOST:
            self._names.setdefault((line.host, address), {}).update(names)

    def parts(self) -> list[PartFacts]:
        """Nothing if the log is of several hosts: an address alone would not tell whose board it is."""
        if len({host for host, _ in self._names if host}) > 1:
            return []
        return [
            PartFacts("gpu", "", serial=names.get("serial", ""), uuid=names.get("uuid", ""), pci_address=address)
            for (_, address), names in self._names.items()
        ]
