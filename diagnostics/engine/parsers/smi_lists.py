"""Lists that nvidia-smi prints: -L, mig -lgi and -lci, and its answer to a reset.

GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-01234567-...)
  MIG 1g.10gb     Device  0: (UUID: MIG-89abcdef-...)
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches

_GPU = re.compile(r"\s*GPU (?P<index>\d+): (?P<name>[^()]*(?:\([^()]*\) )?)\(UUID: (?P<uuid>[^)]+)\)")
_LIST_LINE = re.compile(r"\s*(?:GPU \d+: .*\(UUID: |MIG \S+\s+Device\s+\d+: |Unable to determine the device handle)")


@dataclass(frozen=True, slots=True)
class Listed:
    index: str
    name: str
    uuid: str
    number: int
    raw: str


def gpus(text: str) -> Iterator[Listed]:
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _GPU.match(raw):
            yield Listed(match["index"], match["name"].strip(), match["uuid"].strip(), number, raw.strip())


def _is_list(head: str) -> bool:
    lines = [line for line in head.splitlines() if line.strip()]
    return bool(lines) and any(_GPU.match(line) for line in lines) and all(_LIST_LINE.match(line) for line in lines)


_MIG = r"\|\s*(?:GPU|Compute) instances:|\| (?:GPU|Compute) instance profiles:|No (?:GPU|Compute|MIG-enabled) [\w ]{0,20}found"

TEXT_KINDS: TextKinds = (
    ("nvidia-smi-list", _is_list),
    ("nvidia-smi-mig", matches(rf"(?m:^(?:{_MIG}))")),
    ("nvidia-smi-reset", matches(r"(?m:^GPU [0-9A-Fa-f]{8}:[0-9A-Fa-f:.]+ was successfully reset\.)")),
)
