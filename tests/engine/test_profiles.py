"""What depends on the model of a GPU, or on what a site has, is known from profiles."""

from pathlib import Path

import pytest

from diagnostics.engine.catalog import profiles
from diagnostics.engine.catalog.profiles import BadProfile, Profile
from diagnostics.engine.diagnose import Part, diagnose
from diagnostics.engine.types import Finding

from .helpers import assert_finds, assert_quiet
from .test_command import run

LINKS = (
    "GPU 0: {name} (UUID: GPU-00000000-0000-4000-8000-000000000001)\n\t Link 0: {speed} GB/s\n\t Link 1: {speed} GB/s\n"
)
TABLE = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   {temperature}C    P0            311W /  400W |       1MiB /  81920MiB |     98%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""
METRIC = 'DCGM_FI_DEV_GPU_TEMP{{gpu="3",modelName="Tesla T4",Hostname="gn-1"}} {temperature}\n'
UUID = "GPU-00000000-0000-4000-8000-00000000000"
LIST = "".join(f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: {UUID}{n})\n" for n in range(7))
PORT = (
    "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n"
    "\t\tPhysical state: LinkUp\n\t\tRate: 200\n\t\tLink layer: InfiniBand\n"
)


def roots(text: str, profile: Profile) -> list[Finding]:
    found = diagnose([Part("print", text.encode())], path="test", profile=profile).findings
    return [finding for finding in found if finding.root]


@pytest.mark.parametrize(
    ("name", "baseboard"),
    [
        ("NVIDIA H100 80GB HBM3", True),
        ("NVIDIA H800", True),
        ("NVIDIA H800 PCIe", False),
        ("NVIDIA GH200 480GB", False),
        ("NVIDIA H20-3e", True),
        ("NVIDIA H100 PCIe", False),
        ("NVIDIA H100 NVL", False),
        ("NVIDIA H200", True),
        ("NVIDIA H200 NVL", False),
        ("NVIDIA H20", True),
        ("NVIDIA A100-SXM4-40GB", True),
        ("NVIDIA A100-PCIE-40GB", False),
        ("NVIDIA A100 80GB PCIe", False),
        ("NVIDIA A800-SXM4-80GB", True),
        ("Tesla V100-SXM2-32GB", True),
        ("Tesla V100-PCIE-16GB", False),
        ("NVIDIA B200", True),
        ("NVIDIA GB200", True),
        ("NVIDIA L40S", False),
        ("NVIDIA GeForce RTX 4090", False),
        ("", False),
    ],
)
def test_which_boards_are_meant_to_have_all_links_up(name: str, baseboard: bool):
    known = profiles.gpu(name)
    assert bool(known and known.baseboard) is baseboard


def test_links_that_are_all_as_slow_are_slow_for_their_model():
    assert_quiet(LINKS.format(name="NVIDIA H100 80GB HBM3", speed="26.562"))
    assert_quiet(LINKS.format(name="NVIDIA A100-SXM4-80GB", speed="25"))
    assert_quiet(LINKS.format(name="NVIDIA B200", speed="50"))
    assert_finds("gpu.nvlink.degraded", LINKS.format(name="NVIDIA H100 80GB HBM3", speed="13.281"))
    assert_quiet(LINKS.format(name="NVIDIA Unheard-Of", speed="13.281"))


def test_a_table_shows_a_gpu_as_hot_as_its_model_slows_down_at():
    assert_quiet(TABLE.format(temperature=88))
    assert assert_finds("gpu.thermal.slowdown", TABLE.format(temperature=89)).component == "0000:1b:00.0"
    assert_quiet(TABLE.format(temperature=95).replace("A100-SXM4-80GB", "Unheard-Of    "))


def test_an_exporter_shows_a_gpu_as_hot_as_its_model_slows_down_at():
    assert_quiet(METRIC.format(temperature=92))
    finding = assert_finds("gpu.thermal.slowdown", METRIC.format(temperature=93))
    assert (finding.component, finding.node) == ("GPU 3", "gn-1")


def test_a_list_with_fewer_gpus_than_the_node_has():
    assert roots(LIST, Profile()) == roots(LIST, Profile(gpus=7)) == []
    (finding,) = roots(LIST, Profile(gpus=8))
    assert (finding.fault, finding.line_number, finding.detail) == ("gpu.count_mismatch", 7, "7 of 8 GPUs are there")
    assert roots("[ 1.0] usb 1-1: new device\n", Profile(gpus=8)) == []


def test_the_line_of_the_list_is_counted_in_the_whole_file():
    (finding,) = roots(f"$ uptime\n up 3 days\n$ nvidia-smi -L\n{LIST}", Profile(gpus=8))
    assert (finding.line_number, finding.line) == (10, LIST.splitlines()[-1])


def test_a_port_below_the_rate_of_the_site():
    assert roots(PORT, Profile(ib_rate_gb_s=200)) == []
    assert [finding.fault for finding in roots(PORT, Profile(ib_rate_gb_s=400))] == ["fabric.rate_degraded"]


def test_a_sites_own_row_stands_before_ours(tmp_path: Path):
    own = profiles.read("[node]\ngpus = 8\n\n[[gpu]]\nmodel = '.*A100-SXM4.*'\nslowdown_c = 80\n")
    assert own.gpus == 8
    assert "gpu.thermal.slowdown" in [finding.fault for finding in roots(TABLE.format(temperature=80), own)]
    assert_quiet(TABLE.format(temperature=80))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gpus = 8", "the profile: gpus is not known; known are node, gpu"),
        ("[node]\ngpu = 8", "[node]: gpu is not known; known are gpus, ib_rate_gb_s"),
        ("[node]\ngpus = 'eight'", "[node]: gpus is 'eight'; give a number above zero"),
        ("[[gpu]]\nslowdown_c = 80", "[[gpu]]: model is missing; give a pattern of the name that nvidia-smi prints"),
        ("[[gpu]]\nmodel = '('", "[[gpu]] (: model is no pattern"),
        ("[[gpu]]\nmodel = 'x'\nslowdown_c = -1", "[[gpu]] x: slowdown_c is -1; give a number above zero"),
        ("node = 3", "[node] is no table"),
        ("gpu = 3", "[[gpu]] is no list of tables"),
        ("[node", "it is no TOML"),
    ],
)
def test_a_wrong_profile_is_told_with_place_and_remedy(text: str, told: str):
    with pytest.raises(BadProfile) as error:
        profiles.read(text)
    assert told in str(error.value)


def test_the_command_takes_a_profile(tmp_path: Path):
    (tmp_path / "gpus.txt").write_text(LIST)
    (tmp_path / "site.toml").write_text("[node]\ngpus = 8\n")
    assert run(str(tmp_path / "gpus.txt")).returncode == 0
    ran = run("--profile", str(tmp_path / "site.toml"), str(tmp_path / "gpus.txt"))
    assert ran.returncode == 1
    assert "7 of 8 GPUs are there" in ran.stdout
    ran = run("--profile", str(tmp_path / "none.toml"), str(tmp_path / "gpus.txt"))
    assert (ran.returncode, "none.toml: No such file" in ran.stderr) == (2, True)
