"""NVLinks: states, counters, the matrix, and the service that joins nodes."""

import json

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots

H100 = "GPU {}: NVIDIA H100 80GB HBM3 (UUID: GPU-{})\n"


def states(*gpus: str) -> str:
    """Each GPU as letters: U up, D inactive, - the sentence that none is active."""
    text = ""
    for index, letters in enumerate(gpus):
        text += H100.format(index, index)
        if letters == "-":
            text += "NVML: Unable to retrieve NVLink information as all links are inActive\n"
        else:
            text += "".join(
                f"\t Link {n}: {'26.562 GB/s' if letter == 'U' else '<inactive>'}\n" for n, letter in enumerate(letters)
            )
    return text


def test_link_states():
    assert_quiet(states("UUUU", "UUUU"))
    assert assert_finds("gpu.nvlink.error", states("UUUU", "UUDU")).component == "GPU 1"
    assert assert_finds("gpu.nvlink.error", states("UUUU", "-")).component == "GPU 1"
    assert len(roots(diagnosis_of(states("-", "-")))) == 2
    assert_quiet(states("-", "-").replace("H100 80GB HBM3", "H100 PCIe"))
    assert_quiet(states("-", "-").replace("H100 80GB HBM3", "H200 NVL"))
    assert_quiet(states("-").replace("H100 80GB HBM3", "GH200 480GB"))


@pytest.mark.parametrize(
    ("counter", "value", "faulty"),
    [
        ("Replay Errors", "0", False),
        ("Replay Errors", "3", True),
        ("Recovery Errors", "1", True),
        ("CRC Errors", "7", False),
        ("CRC Errors", "40211", True),
        ("Link recovery failed events", "1", True),
        ("Link recovery successful events", "2", False),
        ("Effective BER", "15e-255", False),
        ("Effective BER", "3e-7", True),
        ("FEC Errors - 1", "881233", False),
        ("Tx packets", "99182", False),
    ],
)
def test_counters(counter: str, value: str, faulty: bool):
    text = H100.format(0, 0) + f"\t Link 0: {counter}: 0\n\t Link 1: {counter}: {value}\n"
    if faulty:
        assert assert_finds("gpu.nvlink.degraded", text).component == "GPU 0"
    else:
        assert_quiet(text)


def test_capabilities_and_remote_ends_are_no_fault():
    assert_quiet(H100.format(0, 0) + "\t Link 0, P2P is supported: true\n\t Link 0, Link is supported: false\n")
    assert_quiet(H100.format(0, 0) + "\t Link 0: Remote Device 00000008:00:00.0: Link 3\n")


def test_the_matrix_alarms_nobody():
    text = (
        "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tNV18\tPXB\t0-55\n"
        "GPU1\tNV18\t X \tNV18\tSYS\t0-55\nGPU2\tSYS\tSYS\t X \tSYS\t0-55\n"
    )
    (note,) = assert_quiet(text).findings
    assert note.component == "GPU 2"
    assert assert_quiet(text.replace("GPU2\tSYS\tSYS", "GPU2\tNV18\tNV18")).findings == ()


def test_dcgmi_nvlink():
    text = (
        "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n    gpuId 0:\n        U U U U\n"
        "    gpuId 1:\n        {}\nNvSwitches:\n    physicalId 8:\n        U U X D\n\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n"
    )
    assert_quiet(text.format("U U U U"))
    assert assert_finds("gpu.nvlink.error", text.format("U D U U")).component == "GPU 1"
    assert_quiet(text.replace("        U U U U\n", "        D D D D\n", 1).format("D D D D"))


def test_no_link_of_any_gpu_is_up_in_dcgmi():
    text = "|  NvLink Link Status  |\nGPUs:\n    gpuId 0:\n        {0}\n    gpuId 1:\n        {0}\nNvSwitches:\n    No NvSwitches found.\n"
    found = [one for one in diagnosis_of(text.format(" ".join("D" * 18))).findings if one.root]
    assert {(one.fault, one.confidence) for one in found} == {("gpu.nvlink.error", "medium")}
    for states in ("D D D D", " ".join("_" * 18), " ".join("X" * 18)):
        assert_quiet(text.format(states))
    assert_quiet(text.replace("    gpuId 1:\n        {0}\n", "").format(" ".join("D" * 18)))


IMEX = """\
Connectivity Table Legend:
I - Invalid - Node wasn't reachable, no connection status available
C - Connected - Ready for operation

3/02/2026 06:08:10.580
Nodes:
Node #0   * 192.0.2.8 *    - READY                - Version: 570.133.20
Node #1   - 192.0.2.9      - {node}                - Version: 570.133.20

 Nodes From\\To  0   1
       0        C   C
       1        C   C
Domain State: {domain}
"""


def test_imex():
    assert_quiet(IMEX.format(node="READY", domain="UP"))
    found = roots(diagnosis_of(IMEX.format(node="UNAVAILABLE", domain="DEGRADED")))
    assert {finding.fault for finding in found} == {"gpu.imex"}
    assert_quiet(IMEX.format(node="INITIALIZING", domain="UP"))


def test_imex_as_json():
    node = {"host": "192.0.2.8", "status": "READY", "connections": {"0": {"host": "192.0.2.8", "status": "CONNECTED"}}}
    value = {"nodes": {"0": node, "1": node}, "timestamp": "3/02/2026 06:08:10.580", "status": "UP"}
    assert_quiet(json.dumps(value))
    assert_finds("gpu.imex", json.dumps(value | {"status": "DEGRADED"}, indent=1))


def test_a_board_that_cannot_be_the_only_one():
    sentence = "NVML: Unable to retrieve NVLink information as all links are inActive\n"
    assert assert_finds("gpu.nvlink.error", f"GPU 5: NVIDIA B200 (UUID: GPU-x)\n{sentence}").component == "GPU 5"
    assert_quiet(f"GPU 0: NVIDIA B200 (UUID: GPU-x)\n{sentence}")
    assert_quiet(f"GPU 5: NVIDIA L40S (UUID: GPU-x)\n{sentence}")
