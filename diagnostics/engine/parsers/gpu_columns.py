"""Tables with a row for each GPU and a column for each reading: nvidia-smi dmon, and what scripts print, in any language.

# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz
    0    651     61     70     99     60      0      0      0      0   2619   1755
"""

import re
from collections.abc import Iterator

from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.parsers.recognise import TextKinds

# Columns by the beginning of their names, in lower case; "" is the number of the GPU.
_COLUMNS = (
    (re.compile(r"(?:gpu|gpu[_-]?(?:id|idx|index|no)|idx|index|卡号|卡|序号|显卡|设备|カード|karte|carte|видеокарта|карта)$"), ""),
    (re.compile(r"(?:gpu[_-]?)?util|sm%?$|gpu%|利用率|gpu利用率|使用率|占用率|auslastung|загрузка|нагрузка|charge"), "utilization/gpu"),
    (
        re.compile(r"(?:gpu[_-]?)?mem(?:ory)?[_-]?(?:used|usage)|mem(?:ory)?[(\[]?mib|fb$|显存|已用显存|speicher|память|mémoire"),
        "memory/used",
    ),
    (re.compile(r"pwr|power|功耗|功率|消費電力|leistung|мощность|puissance"), "power/draw"),
    (re.compile(r"pclk|sm[_-]?cl(?:oc)?k|sm时钟|sm频率|核心频率|gpu频率|gr?clk|takt|частота"), "clocks/sm"),
)  # fmt: skip
_FEWEST = 3
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?%?$")
_LONGEST = 300


def readings(text: str) -> Iterator[Setting]:
    """Under a header each row of as many cells whose first are numbers; `-` is a reading that the GPU does not have."""
    paths: list[str | None] = []
    for number, raw in enumerate(text.splitlines(), 1):
        cells = raw[:_LONGEST].lstrip("#").split()
        if heads := _header(cells):
            paths = heads
        elif (
            paths and len(cells) == len(paths) and not raw.lstrip().startswith("#") and cells[paths.index("")].isdigit()
        ):
            gpu = f"GPU {cells[paths.index('')]}"
            for path, cell in zip(paths, cells, strict=True):
                if path and _NUMBER.match(cell):
                    yield Setting(gpu, path, cell.rstrip("%"), number, raw.strip())


def _header(cells: list[str]) -> list[str | None]:
    """None for a column of no interest. Without a load beside another reading it is another table."""
    if len(cells) < _FEWEST or cells[0][:1].isdigit():
        return []
    found: list[str | None] = [_path(cell.lower()) for cell in cells]
    named = [path for path in found if path]
    enough = "" in found and "utilization/gpu" in named and len(named) > 1
    return found if enough and len(set(named)) == len(named) else []


def _path(name: str) -> str | None:
    return next((path for pattern, path in _COLUMNS if pattern.match(name)), None)


def _is_columns(head: str) -> bool:
    """A header and a row that fits it: the words alone may stand in any text."""
    return next(readings("\n".join(head.splitlines()[:60])), None) is not None


TEXT_KINDS: TextKinds = (("gpu-columns", _is_columns),)
