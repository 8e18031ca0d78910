"""nvidia-smi -q (text), -q -x (XML) and nvlink -s, as flat settings of GPUs.

GPU 00000000:1B:00.0
    Remapped Rows
        Pending                           : No          -> remapped_rows/pending = No
<gpu id="00000000:1B:00.0"><remapped_rows><remapped_row_pending>No   -> remapped_rows/remapped_row_pending = No
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from diagnostics.engine.parsers.recognise import TextKinds, matches

_GPU = re.compile(r"\s*GPU (?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
_SETTING = re.compile(r"(?P<indent>\s*)(?P<key>[^:]+?)\s*(?::\s?(?P<value>.*?))?\s*$")
_LINK_GPU = re.compile(r"GPU (?P<index>\d+): ")
_LINK = re.compile(r"\s+Link (?P<link>\d+): (?P<state>.+?)\s*$")
MOST_XML = 32 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of one GPU ("" if a cut print does not say which); `path` in lower case with underscores, "/" between levels."""

    gpu: str
    path: str
    value: str
    number: int
    raw: str


def settings(text: str) -> list[Setting]:
    return list(_from_xml(text)) if "<nvidia_smi_log" in text[:4096] else list(_from_text(text))


def links(text: str) -> dict[str, list[Setting]]:
    """GPU index -> its NVLinks, value "<inactive>" or a speed."""
    found: dict[str, list[Setting]] = {}
    gpu = ""
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _LINK_GPU.match(raw):
            gpu = match["index"]
        elif gpu and (match := _LINK.match(raw)):
            found.setdefault(gpu, []).append(Setting(gpu, f"link_{match['link']}", match["state"], number, raw.strip()))
    return found


def _from_text(text: str) -> Iterator[Setting]:
    gpu = ""
    parents: list[tuple[int, str]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _GPU.match(raw):
            gpu, parents = match["pci"], []
            continue
        match = _SETTING.match(raw)
        if not match or not raw.strip():
            continue
        indent = len(match["indent"].expandtabs(4))
        while parents and parents[-1][0] >= indent:
            parents.pop()
        key = _key(match["key"])
        path = "/".join([*(name for _, name in parents), key])
        parents.append((indent, key))
        if match["value"] is not None:
            yield Setting(gpu, path, match["value"].strip(), number, raw.strip())


def _from_xml(text: str) -> Iterator[Setting]:
    """An entity is never needed here, so a document that declares one is not opened."""
    if "<!ENTITY" in text or len(text) > MOST_XML:
        raise ValueError("XML with entities, or too much of it")
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", text))  # noqa: S314
    for gpu in root.iter("gpu"):
        for path, value in _leaves(gpu, ""):
            line = f"<{path.rsplit('/', 1)[-1]}>{value}<"
            at = text.find(line)
            yield Setting(
                gpu.get("id", ""), path, value, text.count("\n", 0, at) + 1 if at >= 0 else 0, line.removesuffix("<")
            )


def _leaves(element: ElementTree.Element, path: str) -> Iterator[tuple[str, str]]:
    for child in element:
        name = f"{path}/{child.tag}" if path else child.tag
        if len(child):
            yield from _leaves(child, name)
        else:
            yield name, (child.text or "").strip()


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


# Settings that only nvidia-smi -q prints, for what was cut out of it.
_KEYS = "Remapping Failure Occurred|HW Power Brake Slowdown|Pending Page Blacklist|SRAM Threshold Exceeded"

TEXT_KINDS: TextKinds = (
    ("nvidia-smi", matches(r"<nvidia_smi_log|NVSMI LOG")),
    ("nvidia-smi", matches(r"(?m:^GPU [0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$)")),
    ("nvidia-smi", matches(rf"(?m:^\s*(?:{_KEYS}) +: )")),
    ("nvidia-smi-table", matches(r"(?m:^\| NVIDIA-SMI \d)")),
    ("nvlink", matches(r"(?m:^GPU \d+: .*\(UUID: )[\s\S]*(?:\n\s+Link \d+: |all links are inActive)")),
)
