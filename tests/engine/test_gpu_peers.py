"""One GPU that differs from its peers, in every print that shows readings. Peers that do different jobs prove nothing."""

import pytest

from .helpers import assert_finds, assert_quiet

NVIDIA_DMON = """\
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk
# Idx      W      C      C      %      %      %      %    MHz    MHz
"""


def dcgm_dmon(*rows: tuple[int, float, int, int]) -> str:
    head = "#Entity   SMCLK       POWER      GPUTL      DVCCTR\nID        MHz         W          %\n"
    return head + "".join(f"GPU {n}     {row[0]}   {row[1]}   {row[2]}   {row[3]}\n" for n, row in enumerate(rows))


def metrics(name: str, *values: float, node: str = "n1") -> str:
    return f"# TYPE {name} gauge\n" + "".join(
        f'{name}{{gpu="{n}",UUID="GPU-0{n}",Hostname="{node}"}} {value}\n' for n, value in enumerate(values)
    )


def nvidia_dmon(*rows: tuple[int, int, int]) -> str:
    return NVIDIA_DMON + "".join(
        f"    {n}    {power}     61     70     {load}     60      0      0   2619   {clock}\n"
        for n, (power, load, clock) in enumerate(rows)
    )


BUSY, SLOW = (1755, 610.3, 99, 4), (420, 166.2, 100, 0)


def test_a_low_clock_beside_loaded_peers_is_found():
    assert assert_finds("gpu.clocks.low", dcgm_dmon(BUSY, BUSY, BUSY, SLOW)).component == "GPU 3"
    assert assert_finds(
        "gpu.clocks.low", nvidia_dmon((650, 99, 1755), (651, 99, 1740), (648, 98, 1755), (150, 99, 345))
    )
    text = metrics("DCGM_FI_DEV_SM_CLOCK", 210, 1410, 1410, 1410) + metrics("DCGM_FI_DEV_GPU_UTIL", 100, 99, 99, 99)
    assert assert_finds("gpu.clocks.low", text).node == "n1"


@pytest.mark.parametrize("reasons", [0x4, 0x8], ids=["power cap", "hardware slowdown"])
def test_a_low_clock_with_a_stated_reason_is_none_of_its_own(reasons: int):
    assert_quiet(dcgm_dmon(BUSY, BUSY, BUSY, (420, 166.2, 100, reasons)))


def test_a_sample_that_was_low_once_is_no_fault():
    assert_quiet(dcgm_dmon(BUSY, BUSY, BUSY, SLOW) + dcgm_dmon(BUSY, BUSY, BUSY, BUSY))


def test_gpus_of_different_jobs_are_no_peers():
    loads = metrics("DCGM_FI_DEV_GPU_UTIL", 99, 99, 99, 99)
    assert_quiet(loads + metrics("DCGM_FI_DEV_POWER_USAGE", 610, 320, 450, 120))
    assert_quiet(loads + "".join(metrics("DCGM_FI_DEV_POWER_USAGE", 600, node=f"n{n}") for n in range(4)))


def test_a_gpu_that_only_says_that_it_is_busy_is_found():
    text = metrics("DCGM_FI_DEV_GPU_UTIL", 100, 100, 100, 100) + metrics(
        "DCGM_FI_PROF_SM_ACTIVE", 0.8, 0.003, 0.82, 0.85
    )
    assert assert_finds("gpu.util.anomaly", text).part["uuid"] == "GPU-01"


def test_a_script_may_speak_another_language():
    rows = "".join(f"{n}     {99 * (n != 2)}       76110    {650 if n != 2 else 121}    1755\n" for n in range(6))
    assert assert_finds("gpu.util.anomaly", "卡号  利用率%  显存MiB  功耗W  SM时钟MHz\n" + rows).component == "GPU 2"
    assert_quiet("GPU Auslastung Speicher Leistung\n" + "".join(f"{n} 98 76110 650\n" for n in range(6)))


def test_application_clocks_of_one_gpu_alone_are_found():
    head = "index, clocks.applications.graphics [MHz]\n"
    assert_finds("gpu.config", head + "0, 1410 MHz\n1, 1410 MHz\n2, 1095 MHz\n3, 1410 MHz\n")
    assert_quiet(head + "".join(f"{n}, 1095 MHz\n" for n in range(4)))


def test_the_columns_stand_in_the_command():
    command = (
        "$ nvidia-smi --query-gpu=index,power.draw,enforced.power.limit,power.default_limit --format=csv,noheader\n"
    )
    assert (
        assert_finds(
            "gpu.power.cap", f"{command}6, 398 W, 400.00 W, 400.00 W\n7, 150 W, 150.00 W, 400.00 W\n"
        ).component
        == "GPU 7"
    )
    assert_quiet(f"{command}6, 150 W, 150.00 W, 400.00 W\n7, 150 W, 150.00 W, 400.00 W\n")
