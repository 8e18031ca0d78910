"""nvidia-smi in its other prints: table, columns, lists. What is well must stay silent, and a fault names its board."""

import pytest

from diagnostics.engine.judges.formats import formats
from diagnostics.engine.parsers.detect import detect

from .helpers import assert_finds, assert_quiet, diagnosis_of
from .test_healthy import SMI_IDLE, SMI_XML

OLD_TABLE = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|                               |                      |               MIG M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  On   | 00000000:18:00.0 Off |                    0 |
| N/A   34C    P0    42W / 300W |      0MiB / 16160MiB |      0%      Default |
|                               |                      |                  N/A |
+-------------------------------+----------------------+----------------------+
|   1  Tesla V100-SXM2...  On   | 00000000:3B:00.0 Off |                    0 |
| N/A   36C    P0    44W / 300W |      0MiB / 16160MiB |      0%      Default |
|                               |                      |                  N/A |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory |
|=============================================================================|
|    0   N/A  N/A      4711      C   python3                          1021MiB |
+-----------------------------------------------------------------------------+
"""
NEW_TABLE = """\
Mon Mar  2 10:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.82.07              Driver Version: 580.82.07      CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA GB200                   On  |   00000008:01:00.0 Off |                    0 |
| N/A   33C    P0            151W / 1200W |       0MiB / 189471MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA L40S                    Off |   00000009:01:00.0 Off |                  Off |
| 30%   29C    P8             31W /  350W |       0MiB /  46068MiB |    N/A       Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
"""


@pytest.mark.parametrize("table", [OLD_TABLE, NEW_TABLE], ids=["450", "580"])
def test_a_table_without_a_fault_is_silent(table: str):
    assert_quiet(table)
    assert_quiet(table.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    ("well", "sick", "fault"),
    [
        ("|                    0 |\n| N/A   36C", "|                    3 |\n| N/A   36C", "gpu.ecc.uncorrectable"),
        ("| N/A   36C    P0    44W / 300W |", "|ERR!   ERR!  ERR!  ERR! / ERR! |", "gpu.lost"),
        ("44W / 300W |      0MiB / 16160MiB |", "44W / 300W |     GPU is lost      |", "gpu.lost"),
    ],
)  # fmt: skip
def test_a_cell_of_the_table_names_its_board(well: str, sick: str, fault: str):
    assert well in OLD_TABLE
    assert assert_finds(fault, OLD_TABLE.replace(well, sick)).component == "0000:3b:00.0"


def test_a_mig_mode_that_waits_for_a_reset():
    assert (
        assert_finds("gpu.mig.misconfigured", NEW_TABLE.replace(" Enabled |", "Enabled* |")).component == "0009:01:00.0"
    )


def test_one_broken_fan_is_only_noted():
    assert_quiet(NEW_TABLE.replace("| 30%   29C", "|ERR!   29C"))


def test_tables_and_lists_tell_which_index_is_which_board():
    parts = parts_of(OLD_TABLE)
    assert [(part.slot, part.pci_address) for part in parts] == [("0", "0000:18:00.0"), ("1", "0000:3b:00.0")]
    listed = "GPU 0: NVIDIA H100 PCIe (UUID: GPU-0a)\n  MIG 1g.10gb     Device  0: (UUID: MIG-1b)\nGPU 1: NVIDIA H100 PCIe (UUID: GPU-1a)\n"
    assert [(part.slot, part.uuid) for part in parts_of(listed)] == [("0", "GPU-0a"), ("1", "GPU-1a")]
    assert_quiet(listed)
    (board,) = parts_of(SMI_IDLE)
    assert (board.slot, board.model, board.pci_address) == ("0", "NVIDIA H100 80GB HBM3", "0000:1b:00.0")


def parts_of(text: str):
    found = detect(text.encode())
    return formats()[found.kind].parts(found.payload)


QUERY = "index, pci.bus_id, uuid, {}\n0, 00000000:1B:00.0, GPU-00000000-0000-4000-8000-000000000001, {}\n"


@pytest.mark.parametrize(
    ("columns", "well", "sick", "fault"),
    [
        ("ecc.errors.uncorrected.volatile.total", "0", "2", "gpu.ecc.uncorrectable"),
        ("remapped_rows.pending", "0", "1", "gpu.row_remap.pending"),
        ("remapped_rows.failure", "No", "Yes", "gpu.row_remap.failed"),
        ("remapped_rows.uncorrectable", "12", "512", "gpu.row_remap.failed"),
        ("retired_pages.pending", "No", "Yes", "gpu.page_retirement.pending"),
        ("clocks_event_reasons.hw_thermal_slowdown", "Not Active", "Active", "gpu.thermal.slowdown"),
        ("clocks_throttle_reasons.active", "0x0000000000000004", "0x0000000000000080", "gpu.power.brake"),
        ("pcie.link.width.current, pcie.link.width.max", "16, 16", "8, 16", "gpu.pcie.degraded"),
        ("pstate, utilization.gpu [%], pcie.link.gen.current, pcie.link.gen.max", "P8, 0 %, 1, 5", "P0, 97 %, 1, 5", "gpu.pcie.degraded"),
        ("mig.mode.current, mig.mode.pending", "Disabled, Disabled", "Disabled, Enabled", "gpu.mig.misconfigured"),
        ("temperature.gpu, temperature.gpu.tlimit", "55, 30", "88, -1", "gpu.thermal.slowdown"),
        ("fabric.state, fabric.status", "Completed, Success", "Completed, Insufficient Resources", "gpu.fabric_manager"),
        ("power.draw [W]", "[N/A]", "[GPU is lost]", "gpu.lost"),
    ],
)  # fmt: skip
def test_columns(columns: str, well: str, sick: str, fault: str):
    assert_quiet(QUERY.format(columns, well))
    assert_quiet(QUERY.format(columns, ", ".join(["[Not Supported]"] * (columns.count(",") + 1))))
    assert assert_finds(fault, QUERY.format(columns, sick)).component == "0000:1b:00.0"


def test_columns_without_a_header_tell_special_values_only():
    row = "0, 00000000:1B:00.0, {}, 31\n1, 00000000:43:00.0, {}, 31\n"
    diagnosis = assert_quiet(row.format("9", "7"))
    assert diagnosis.could_not_check
    assert assert_finds("gpu.lost", row.format("0", "[GPU is lost]")).component == "0000:43:00.0"


def test_processes_are_no_fault():
    assert_quiet("pid, process_name, used_gpu_memory [MiB]\n4711, python3, 70100 MiB\n")


@pytest.mark.parametrize(
    ("well", "sick", "fault"),
    [
        ("GPU T.Limit Temp                  : 54 C", "GPU T.Limit Temp                  : 0 C", "gpu.thermal.slowdown"),
        ("GPU T.Limit Temp                  : 54 C", "GPU T.Limit Temp                  : -9 C", "gpu.thermal.shutdown"),
        ("Pending                           : Disabled", "Pending                           : Enabled", "gpu.mig.misconfigured"),
        ("Status                            : Success", "Status                            : Unknown Error", "gpu.fabric_manager"),
    ],
)  # fmt: skip
def test_settings(well: str, sick: str, fault: str):
    assert well in SMI_IDLE
    assert assert_finds(fault, SMI_IDLE.replace(well, sick, 1)).component == "0000:1b:00.0"


@pytest.mark.parametrize(
    "text",
    [
        "GPU 00000000:1B:00.0\n    GPU Reset Status\n        Reset Required                    : {}\n",
        "GPU 00000000:1B:00.0\n    GPU Reset Status\n        Drain and Reset Recommended       : {}\n",
    ],
)
def test_a_reset_that_the_driver_asks_for(text: str):
    assert_quiet(text.format("No"))
    assert_quiet(text.format("Requested functionality has been deprecated"))
    assert_finds("gpu.reset_required", text.format("Yes"))


def test_the_link_is_slow_under_load_only():
    text = (
        "GPU 00000000:1B:00.0\n    PCI\n        GPU Link Info\n            PCIe Generation\n                Max                       : 4\n"
        "                Current                   : 1\n            Link Width\n                Max                       : 16x\n"
        "                Current                   : {}\n    Performance State                     : {}\n    Utilization\n"
        "        Gpu                               : {}\n"
    )
    assert_quiet(text.format("16x", "P8", "0 %"))
    assert_quiet(text.format("16x", "P0", "0 %"))
    assert_finds("gpu.pcie.degraded", text.format("16x", "P0", "98 %"))
    assert_finds("gpu.pcie.degraded", text.format("8x", "P8", "0 %"))


def test_xml_that_was_cut_off_is_read_as_far_as_it_goes():
    sick = SMI_XML.replace("<remapped_row_failure>No", "<remapped_row_failure>Yes")
    assert_finds("gpu.row_remap.failed", sick[: sick.index("<clocks_event")])


def test_a_setting_that_was_well_again_in_the_last_sample_is_only_noted():
    hot = SMI_IDLE.replace("HW Thermal Slowdown           : Not Active", "HW Thermal Slowdown           : Active")
    assert_quiet(hot + SMI_IDLE)
    assert_finds("gpu.thermal.slowdown", SMI_IDLE + hot)


def test_an_odd_one_among_many():
    rows = "".join(f"{n}, NVIDIA H100 80GB HBM3, Enabled, {{{n}}}\n" for n in range(4))
    text = "index, name, ecc.mode.current, enforced.power.limit [W]\n" + rows
    assert_quiet(text.format(*["700.00 W"] * 4))
    assert (
        assert_finds("gpu.power.cap", text.format("700.00 W", "700.00 W", "300.00 W", "700.00 W")).component == "GPU 2"
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "gpu.driver.not_loaded"),
        ("Failed to initialize NVML: Driver/library version mismatch", "gpu.driver.mismatch"),
        ("Failed to initialize NVML: GPU access blocked by the operating system", "gpu.lost"),
        ("Unable to determine the device handle for GPU0: 0000:D8:00.0: Unknown Error", "gpu.off_bus"),
        ("No devices were found", "gpu.count_mismatch"),
        ("Unable to reset GPU 00000000:3B:00.0: Unknown Error", "gpu.lost"),
    ],
)
def test_answers_of_one_line(text: str, fault: str):
    assert_finds(fault, text + "\n")


def test_a_reset_that_worked_is_no_fault():
    assert diagnosis_of("GPU 00000000:3B:00.0 was successfully reset.\nAll done.\n").verdict.state == "clean"


def test_a_narrow_link_that_all_have_or_that_a_hypervisor_shows_is_only_noted():
    rows = "0, 00000000:1B:00.0, {}, 16\n1, 00000000:43:00.0, {}, 16\n"
    header = "index, pci.bus_id, pcie.link.width.current, pcie.link.width.max\n"
    assert_quiet(header + rows.format(8, 8))
    assert assert_finds("gpu.pcie.degraded", header + rows.format(16, 8)).component == "0000:43:00.0"
    assert_quiet(header + "0, 00000000:00:1E.0, 8, 16\n")


@pytest.mark.parametrize(
    ("fault", "block"),
    [
        ("gpu.row_remap.pending", "    Remapped Rows\n        Correctable Error       : 0\n        Pending                 : {}\n"),
        ("gpu.page_retirement.pending", "    Retired Pages\n        Double Bit ECC          : 3\n        Pending                 : {}\n"),
        ("gpu.reset_required", "    GPU Reset Status\n        Reset Required          : {}\n"),
    ],
)  # fmt: skip
def test_one_block_of_a_query(fault: str, block: str):
    assert_finds(fault, block.format("Yes"))
    assert_finds(fault, block.format("Yes").replace("\n", "\r\n"))
    assert_quiet(block.format("No"))


def test_the_fabric_block_alone():
    block = "    Fabric\n        State                   : {}\n        Status                  : N/A\n"
    assert_finds("gpu.fabric_manager", block.format("In Progress"))
    assert_quiet(block.format("Completed"))
    assert_quiet(block.format("N/A"))


def test_the_temperatures_alone():
    text = "    GPU Current Temp                  : {} C\n    GPU Shutdown Temp                 : 95 C\n"
    assert_finds("gpu.thermal.shutdown", text.format(96))
    assert_quiet(text.format(61))


def test_columns_below_the_command_that_asked_for_them():
    text = (
        "nvidia-smi --query-gpu=index,pci.bus_id,ecc.errors.uncorrected.volatile.total --format=csv\n"
        "index, pci.bus_id, ecc.errors.uncorrected.volatile.total\n"
        "0, 00000000:1B:00.0, 0\n1, 00000000:43:00.0, {}\n"
    )
    assert assert_finds("gpu.ecc.uncorrectable", text.format(2)).component == "0000:43:00.0"
    assert_quiet(text.format(0))
