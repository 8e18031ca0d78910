"""One board under its address, index, UUID and serial."""

from diagnostics.engine.diagnose import Part, diagnose
from incidents.domain.hardware import PartFacts

XID = "[ 812.001234] NVRM: Xid (PCI:0000:3B:00): 79, pid=1, GPU has fallen off the bus.\n"
GPU = PartFacts(
    "gpu", "3", model="H100", serial="1650", uuid="GPU-5c1", pci_address="00000000:3B:00.0", attributes={"slot": "SXM4"}
)
DIAG = """+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
| Diagnostic                | Fail - GPU: 3                                  |
"""


def look(*texts):
    return diagnose([Part(f"p{n}", text.encode()) for n, text in enumerate(texts)], path="x", inventory=[GPU])


def test_what_was_known_of_a_board_before_it_was_lost_is_told():
    (finding,) = look(XID).findings
    assert finding.component == "0000:3b:00.0"
    assert finding.part == {
        "index": "3", "uuid": "GPU-5c1", "serial": "1650", "slot": "SXM4", "model": "H100", "pci": "00000000:3B:00.0",
    }  # fmt: skip


def test_the_driver_s_own_lines_name_the_board():
    text = (
        "[ 810.1] NVRM: GPU at PCI:0000:5e:00: GPU-0badcafe-0000-1111-2222-333344445555\n"
        "[ 810.1] NVRM: GPU Board Serial Number: 1650000000001\n"
        "[ 810.2] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"
    )
    part = look(text).findings[0].part
    assert (part["uuid"], part["serial"]) == ("GPU-0badcafe-0000-1111-2222-333344445555", "1650000000001")


def test_an_index_and_an_address_are_one_board():
    found = look(DIAG).findings
    assert {finding.component for finding in found} == {"0000:3b:00.0"}


def test_a_gpu_on_the_bus_that_the_driver_does_not_list_is_missing():
    bus = "".join(
        f"{bus}:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n" for bus in ("1b", "43", "52")
    )
    listed = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aa)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bb)\n"
    (finding,) = [one for one in look(bus, listed).findings if one.root]
    assert (finding.fault, finding.detail) == ("gpu.count_mismatch", "3 GPUs on the PCI bus, 2 in nvidia-smi")
    assert not look(bus, listed + "GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-cc)\n").findings
    assert not look(f"{bus}\tKernel driver in use: vfio-pci\n", listed).findings


def test_two_processes_on_one_gpu_make_the_hardware_suspect_and_one_does_not():
    line = "[ {at}.000001] NVRM: Xid (PCI:0000:3b:00): 13, pid={pid}, name={name}, Graphics SM Warp Exception on (GPC 0, TPC 1)\n"
    one = look(line.format(at=100, pid=7, name="python3") * 2).findings[0]
    two = look(line.format(at=100, pid=7, name="python3") + line.format(at=9000, pid=991, name="vllm")).findings[0]
    assert "suspect" not in one.detail
    assert "hardware is suspect" in two.detail
    assert "dcgmi diag" in two.action
