"""nvidia-smi -q (text) and -q -x (XML), as flat settings of GPUs.

GPU 00000000:1B:00.0
    Remapped Rows
        Pending                           : No          -> remapped_rows/pending = No
<gpu id="00000000:1B:00.0"><remapped_rows><remapped_row_pending>No   -> remapped_rows/remapped_row_pending = No
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from diagnostics.engine.parsers.recognise import TextKinds, matches

_PCI = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_GPU = re.compile(rf"\s*GPU (?P<pci>{_PCI})\s*$")
_SETTING = re.compile(r"(?P<indent>\s*)(?P<key>[^:\s][^:]{0,100})(?::\s?(?P<value>.*))?$")
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z_][\w.-]{0,100})(?P<attributes>(?:[\s/][^<>]*)?)>(?P<text>[^<]*)")
_ID = re.compile(r"""\bid=["']([^"']*)["']""")
_DEEPEST = 32  # levels; nvidia-smi prints six


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of one GPU ("" if a cut print does not say which); `path` in lower case with underscores, "/" between levels."""

    gpu: str
    path: str
    value: str
    number: int
    raw: str


class Reading(NamedTuple):
    """`unread` are the numbers of the lines that are nested deeper than nvidia-smi does it, the first few."""

    settings: tuple[Setting, ...]
    unread: tuple[int, ...]


def settings(text: str) -> tuple[Setting, ...]:
    return read(text).settings


@lru_cache(maxsize=2)
def read(text: str) -> Reading:
    """Kept for a moment: the judge, the gaps and the parts of one print all ask."""
    unread: list[int] = []
    found = _from_xml(text, unread) if "<nvidia_smi_log" in text[:4096] else _from_text(text, unread)
    return Reading(tuple(found), tuple(unread))


def _from_text(text: str, unread: list[int]) -> Iterator[Setting]:
    gpu = ""
    parents: list[tuple[int, str]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _GPU.match(raw):
            gpu, parents = match["pci"], []
            continue
        match = _SETTING.match(raw)
        if not match:
            continue
        indent = len(match["indent"].expandtabs(4))
        while parents and parents[-1][0] >= indent:
            parents.pop()
        if len(parents) == _DEEPEST:
            _note(number, unread)
            continue
        name = key(match["key"])
        path = "/".join([*(parent for _, parent in parents), name])
        parents.append((indent, name))
        if match["value"] is not None:
            yield Setting(gpu, path, match["value"].strip(), number, raw.strip())


def _from_xml(text: str, unread: list[int]) -> Iterator[Setting]:
    """Read tag by tag, so that a print that was cut off is read as far as it goes; no entity is ever looked up."""
    gpu, number, last = "", 1, 0
    path: list[str] = []
    for tag in _TAG.finditer(text):
        number += text.count("\n", last, tag.start())
        last = tag.start()
        if tag["close"]:
            if tag["name"] in path:
                del path[len(path) - 1 - path[::-1].index(tag["name"]) :]
        elif tag["name"] == "gpu" and (found := _ID.search(tag["attributes"])):
            gpu, path = found.group(1), ["gpu"]
        elif len(path) == _DEEPEST:
            _note(number, unread)
        elif not tag["attributes"].rstrip().endswith("/"):
            path.append(tag["name"])
            value = unescape(tag["text"].strip())
            if path[0] == "gpu" and value:
                line = f"<{tag['name']}>{value}"
                yield Setting(gpu, "/".join(path[1:]), value, number, line)
            elif path[0] == "nvidia_smi_log" and value:
                yield Setting("", "/".join(path[1:]), value, number, f"<{tag['name']}>{value}")


def _note(number: int, unread: list[int]) -> None:
    if len(unread) < 3:
        unread.append(number)


@lru_cache(maxsize=4096)
def key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


# Settings that only nvidia-smi -q prints, for what was cut out of it.
_KEYS = (
    "Remapping Failure Occurred|HW Power Brake Slowdown|Pending Page Blacklist|SRAM Threshold Exceeded|GPU Current Temp|"
    "GPU Recovery Action|HW Thermal Slowdown|SRAM Uncorrectable|DRAM Uncorrectable|GPU Link Info"
)

# Headings of its blocks.
_BLOCKS = (
    "Remapped Rows|Retired Pages|E[Cc][Cc] (?:Errors|Mode)|MIG Mode|Fabric|Clocks (?:Throttle|Event) Reasons|GPU Reset Status|"
    "Bank Remap Availability Histogram|Power Readings|GPU Power Readings"
)

TEXT_KINDS: TextKinds = (
    ("nvidia-smi", matches(r"<nvidia_smi_log|NVSMI LOG")),
    ("nvidia-smi", matches(rf"(?m:^GPU {_PCI}\s*$)")),
    ("nvidia-smi", matches(rf"(?m:^[ \t]*(?:{_KEYS})(?: +: |[ \t]*$))")),
    ("nvidia-smi", matches(rf"(?m:^[ \t]*(?:{_BLOCKS})[ \t]*\r?\n[ \t]*[A-Z][\w/ ]{{2,40}}(?:[ \t]+: |[ \t]*$))")),
)
