"""GPUs as the kernel's PCI code sees them before their driver loads.

pci 0000:b1:00.0: [10de:26b9] type 00 class 0x030200 PCIe Endpoint          AMD: [1002:740f] ... class 0x038000
pci 0000:b1:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]        since 6.10: BAR 1 [mem size ...]: can't assign; no space
pci 0000:b1:00.0: 63.012 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x4 link at 0000:b0:01.0 (capable of 252.048 Gb/s with
    16.0 GT/s PCIe x16 link)
"""

import re
from collections.abc import Iterator

from diagnostics.engine import components
from diagnostics.engine.judges.gpu_speaker import limits_of_gpu
from diagnostics.engine.judges.signatures import is_kernel, observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Role

LITERALS = (
    ": [10de:", ": [1002:", ": [1022:1470]", "available PCIe bandwidth, limited by", "no space for [mem",
    "failed to assign [mem", "can't assign; no space", "]: failed to assign", ": assigned [mem", "]: assigned",
)  # fmt: skip

_PCI = r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
# NVIDIA's and AMD's GPUs; the bridge on AMD's boards, which is what the slot sees.
_FOUND = re.compile(
    rf"pci (?P<pci>{_PCI}): \[(?:(?:10de|1002):[0-9a-f]{{4}}\] type \d\w class 0x(?:0?3(?:0[02]|80)|1200)"
    r"|(?:1022:1470|1002:1478)\] type 01)"
)
_BAR = re.compile(
    rf"pci (?P<pci>{_PCI}): BAR (?P<bar>[0-5])(?:: (?P<said>no space for|failed to assign|assigned) \[mem"
    r"| \[mem [^\]]{1,60}\]: (?P<said2>can.t assign; no space|failed to assign|assigned))"
)
_LIMITED = re.compile(
    rf"\w+ (?P<pci>{_PCI}): [\d.]+ Gb/s available PCIe bandwidth, limited by [\d.]+ GT/s (?:PCIe )?x(?P<width>\d+) link at "
    rf"(?P<at>{_PCI}) \(capable of [\d.]+ Gb/s with [\d.]+ GT/s (?:PCIe )?x(?P<most>\d+) link\)"
)


class GpuBootLines:
    """The judge of these lines; it knows the GPUs from the lines in which they were found."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._gpus: set[tuple[str | None, str]] = set()

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not is_kernel(line) or not any(literal in found for literal in LITERALS):
            return
        if match := _FOUND.match(line.message):
            self._gpus.add((line.host, match["pci"]))
        elif (match := _BAR.match(line.message)) and (line.host, match["pci"]) in self._gpus:
            yield self._space(line, match)
        elif (match := _LIMITED.match(line.message)) and self._is_gpu(line, match["pci"]):
            yield from self._narrow(line, match)

    def _is_gpu(self, line: LogLine, pci: str) -> bool:
        return line.message.startswith(("nvidia ", "amdgpu ")) or (line.host, pci) in self._gpus

    def _space(self, line: LogLine, match: re.Match[str]) -> Hit:
        """The kernel tries again with other windows: what was assigned in the end is well."""
        over = "assigned" in (match["said"], match["said2"])
        signature = f"gpu-bar-{match['bar']}-no-space"
        seen = observe(
            line, fault="gpu.pcie.bar_space", source_name=self._source_name, component=components.pci(match["pci"], board=True),
            role="note" if over else "root", signature=signature,
        )  # fmt: skip
        return Hit(seen, clears=(signature,) if over else ())

    def _narrow(self, line: LogLine, match: re.Match[str]) -> Iterator[Hit]:
        """A lower speed is a link at rest; half the lanes are how many a slot may have."""
        width, most = int(match["width"]), int(match["most"])
        if width < most:
            role: Role = "root" if width <= limits_of_gpu()["narrow_width"] else "note"
            yield Hit(
                observe(
                    line, fault="gpu.pcie.degraded", source_name=self._source_name, role=role, confidence="medium",
                    component=components.pci(match["pci"], board=True), detail=f"x{width} of x{most} at {match['at']}",
                )
            )  # fmt: skip
