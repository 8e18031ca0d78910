"""The files of PCI devices in sysfs, as `grep . FILES` and `tail FILES` print them.

/sys/bus/pci/devices/0000:ca:00.0/current_link_width:2        also: ==> FILE <== with the value below, "FILE 2", "FILE = 2"
"""

import re
from collections.abc import Iterator

from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.parsers.recognise import TextKinds, matches

_FILE = re.compile(
    r"(?:==> )?/?sys/\S{0,200}?(?P<pci>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/(?P<name>[a-z_]{4,30})"
    r"(?: <==|\s*[:= ]\s*(?P<value>\S.*))?$"
)


def settings(text: str) -> Iterator[Setting]:
    """`path` is the name of the file."""
    open_file: re.Match[str] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()[:400]
        if match := _FILE.match(line):
            open_file = None if match["value"] else match
            if match["value"]:
                yield Setting(match["pci"], match["name"], match["value"].strip(), number, line)
        elif open_file and line:
            yield Setting(open_file["pci"], open_file["name"], line, number, line)
            open_file = None


TEXT_KINDS: TextKinds = (
    (
        "pci-sysfs",
        matches(r"(?m:^(?:==> )?/?sys/\S{0,200}?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/(?:current|max)_link_width\b)"),
    ),
)
