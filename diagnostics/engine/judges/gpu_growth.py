"""Counters of a GPU in a print that was repeated: what rises from sample to sample is going on now."""

import re
from collections import defaultdict
from collections.abc import Sequence

from diagnostics.engine.judges.gpu_speaker import Speaker, limits_of_gpu, number
from diagnostics.engine.parsers.nvidia_smi import Setting

_REPLAYS = re.compile(r"replays_since_reset$|replay_counter$")
_CORRECTED = re.compile(r"volatile/(?:.*/)?dram_correctable$|corrected/volatile/(?:dram|total|device_memory)$")
_PAGE = re.compile(r"retired_pages/address$")


def judge(rows: Sequence[Setting], say: Speaker) -> None:
    limits = limits_of_gpu()
    series: dict[str, list[Setting]] = defaultdict(list)
    for row in rows:
        series[row.path].append(row)
    for path, samples in series.items():
        first, last = number(samples[0].value), number(samples[-1].value)
        if _PAGE.search(path) and len(samples) >= limits["retired_pages"]:
            say("gpu.page_retirement.exhausted", samples[-1], detail=f"{len(samples)} pages retired")
        if first is None or last is None or len(samples) < 2:
            continue
        if _REPLAYS.search(path) and last - first >= limits["replay_growth"]:
            say("gpu.pcie.replay", samples[-1], detail=f"{last - first:g} more than in the first sample")
        elif _CORRECTED.search(path) and last - first >= limits["corrected_growth"]:
            say("gpu.ecc.correctable_storm", samples[-1], detail=f"{last - first:g} more than in the first sample")
