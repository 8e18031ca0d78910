"""The lanes of GPUs by their files in sysfs."""

import re
from collections import defaultdict
from dataclasses import replace

from diagnostics.engine.judges import gpu_peers
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.gpu_speaker import Speaker
from diagnostics.engine.parsers import pci_sysfs as parser
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Observation

_PATHS = {"current_link_width": "link_widths/current", "max_link_width": "link_widths/max"}
_NVIDIA, _DISPLAY = "0x10de", "0x03"
_GPUS = re.compile(r"\bGPUs?\b|NVIDIA|\bnvidia")


def judge(log: Log, *, source_name: str) -> list[Observation]:
    files: dict[str, dict[str, Setting]] = defaultdict(dict)
    for row in parser.settings(log.text):
        files[row.gpu][row.path] = row
    is_of_gpus = bool(_GPUS.search(log.text))
    boards = {
        pci: [replace(names[name], path=path) for name, path in _PATHS.items() if name in names]
        for pci, names in files.items()
        if _is_gpu(names, is_of_gpus)
    }
    say = Speaker(source_name)
    gpu_peers.judge(boards, say)
    return say.found


def _is_gpu(names: dict[str, Setting], is_of_gpus: bool) -> bool:
    """By its vendor and class; where these were not printed, by what the text is about."""
    vendor, kind = names.get("vendor"), names.get("class")
    if vendor is None and kind is None:
        return is_of_gpus
    return (vendor is None or vendor.value == _NVIDIA) and (kind is None or kind.value.startswith(_DISPLAY))


FORMATS = {"pci-sysfs": Format("PCI devices", (judge,), of("gpu.pcie"), has_log=True)}
