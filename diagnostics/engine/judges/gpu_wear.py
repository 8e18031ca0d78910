"""What a GPU's counters say of its memory's life: errors, remapped rows, retired pages."""

import re
from collections.abc import Sequence

from diagnostics.engine.judges.gpu_speaker import Speaker, first, is_read, limits_of_gpu, number, values
from diagnostics.engine.parsers.nvidia_smi import Setting

_SRAM_LIFE = re.compile(r"aggregate/(?:.*/)?sram_uncorrectable\w*$|uncorrected/aggregate/sram$")
_SRAM_FLAG = re.compile(r"sram_?threshold_?exceeded$")
_CORRECTED = re.compile(r"volatile/(?:.*/)?dram_correctable$|corrected/volatile/dram$")
_REMAPPED = re.compile(r"remapped_rows/(?:remapped_row_unc|uncorrectable_error|uncorrectable)$")
_SINGLE = re.compile(
    r"retired_pages/(?:single_bit_ecc|single_bit_ecc/count|sbe|multiple_single_bit_retirement/retired_count)$"
)
_DOUBLE = re.compile(r"retired_pages/(?:double_bit_ecc|double_bit/count|dbe|double_bit_retirement/retired_count)$")


def judge(rows: Sequence[Setting], say: Speaker) -> None:
    """Counts of the board's life. The driver's own flag on SRAM is better than the rule of thumb, so that counts only without it."""
    limits = limits_of_gpu()
    flag = first(rows, _SRAM_FLAG)
    life = [row for row in rows if _SRAM_LIFE.search(row.path)]
    if (
        life
        and (flag is None or not is_read(flag))
        and sum(number(row.value) or 0 for row in life) > limits["sram_uncorrectable"]
    ):
        worst = max(life, key=lambda row: number(row.value) or 0)
        say(
            "gpu.ecc.uncorrectable",
            worst,
            confidence="medium",
            detail=f"more than {limits['sram_uncorrectable']} in the board's life",
        )
    for row in rows:
        if _CORRECTED.search(row.path) and (number(row.value) or 0) >= limits["dram_corrected_storm"]:
            say("gpu.ecc.correctable_storm", row)
        if _REMAPPED.search(row.path) and (number(row.value) or 0) >= limits["retire_rows_uncorrectable"]:
            say("gpu.row_remap.failed", row, detail="as many remapped rows mean replacement")
    single, double = values(rows, _SINGLE, _DOUBLE)
    pages = sum(one[1] for one in (single, double) if one)
    if pages >= limits["retired_pages"]:
        say("gpu.page_retirement.exhausted", (double or single)[0], detail=f"{pages:g} pages retired")  # type: ignore[index]
    elif double and double[1] >= limits["retired_pages_double_bit"]:
        say(
            "gpu.page_retirement.exhausted",
            double[0],
            role="note",
            detail=f"{double[1]:g} pages retired for double-bit errors",
        )
