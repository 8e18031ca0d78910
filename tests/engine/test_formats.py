"""The formats of tools: each sick print names its fault and its part."""

import json

import pytest

from .helpers import assert_finds, assert_quiet
from .test_healthy import DCGM_DIAG, IBSTAT, LSPCI, REDFISH, SDR, SEL, SMART, SMI_IDLE, SMI_XML


@pytest.mark.parametrize(
    ("well", "sick", "fault"),
    [
        ("Remapping Failure Occurred        : No", "Remapping Failure Occurred        : Yes", "gpu.row_remap.failed"),
        (
            "        Pending                           : No",
            "        Pending                           : Yes",
            "gpu.row_remap.pending",
        ),
        (
            "HW Power Brake Slowdown       : Not Active",
            "HW Power Brake Slowdown       : Active",
            "gpu.power.brake",
        ),
        (
            "HW Thermal Slowdown           : Not Active",
            "HW Thermal Slowdown           : Active",
            "gpu.thermal.slowdown",
        ),
        (
            "            DRAM Uncorrectable            : 0",
            "            DRAM Uncorrectable            : 7",
            "gpu.ecc.uncorrectable",
        ),
        ("SRAM Threshold Exceeded       : No", "SRAM Threshold Exceeded       : Yes", "gpu.ecc.sram_threshold"),
        (
            "GPU Recovery Action                   : None",
            "GPU Recovery Action                   : Reset",
            "gpu.reset_required",
        ),
        (
            "State                             : Completed",
            "State                             : In Progress",
            "gpu.fabric_manager",
        ),
    ],
)
def test_nvidia_smi(well: str, sick: str, fault: str):
    assert well in SMI_IDLE
    assert assert_finds(fault, SMI_IDLE.replace(well, sick)).component == "0000:1b:00.0"


def test_nvidia_smi_as_xml():
    text = SMI_XML.replace("<remapped_row_pending>No", "<remapped_row_pending>Yes")
    finding = assert_finds("gpu.row_remap.pending", text)
    assert (finding.component, finding.line_number) == ("0000:1b:00.0", 5)
    assert_finds("gpu.thermal.slowdown", SMI_XML.replace("44 C", "91 C"))


def test_one_nvlink_of_many_is_down():
    text = "GPU 0: NVIDIA H100 (UUID: GPU-0)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
    assert assert_finds("gpu.nvlink.error", text).component == "GPU 0"


def test_a_failing_row_of_dcgmi_diag():
    sick = DCGM_DIAG.replace(
        "| Pass - All                                     |", "| Fail - GPUs: 2, 5                              |"
    )
    assert assert_finds("gpu.diag.failed", sick.replace(", 5", "   ")).component == "GPU 2"


@pytest.mark.parametrize(
    ("well", "sick", "fault", "component"),
    [
        (
            "Fan1 RPM         | 30h | ok  |  7.1 | 8520 RPM",
            "Fan1 RPM         | 30h | cr  |  7.1 | 0 RPM",
            "host.fan.failed",
            "Fan1 RPM",
        ),
        ("04h | ok  |  7.1 | 23", "04h | ucr |  7.1 | 47", "host.temp.critical", "Inlet Temp"),
        ("Presence detected", "Presence detected, Power Supply AC lost", "host.psu.failed", "PS1 Status"),
    ],
)
def test_bmc_sensors(well: str, sick: str, fault: str, component: str):
    assert well in SDR
    assert assert_finds(fault, SDR.replace(well, sick)).component == component


@pytest.mark.parametrize(
    ("sensor", "event", "fault"),
    [
        ("Memory DIMM_B2", "Uncorrectable ECC", "host.memory.uncorrectable"),
        ("Memory DIMM_B2", "Correctable ECC", "host.memory.correctable"),
        ("Memory DIMM_B2", "Correctable ECC logging limit reached", "host.memory.correctable_storm"),
        ("Fan Fan 4", "Lower Critical going low ", "host.fan.failed"),
        ("Voltage P3V3", "Upper Critical going high", "host.board.fault"),
        ("Power Supply PS2", "Failure detected", "host.psu.failed"),
        ("Critical Interrupt #0x81", "Bus Fatal Error", "host.pcie.fatal"),
        ("Processor CPU1", "IERR", "host.cpu.mce"),
        ("Drive Slot / Bay #0x44", "Drive Fault", "host.disk.failing"),
        ("Physical Security #0xaa", "General Chassis intrusion", "host.intrusion"),
        ("Event Logging Disabled SEL", "Log full", "bmc.sel_full"),
        ("Temperature Outlet", "Upper Non-recoverable going high", "host.temp.critical"),
    ],
)
def test_bmc_event_log(sensor: str, event: str, fault: str):
    row = "  9a | 03/03/2026 | 09:00:00 | {} | {} | {}\n"
    assert_finds(fault, SEL + row.format(sensor, event, "Asserted"))
    assert_quiet(SEL + row.format(sensor, event, "Asserted") + row.format(sensor, event, "Deasserted"))


def test_both_supplies_without_input_are_a_loss_of_power():
    rows = (
        "Power Unit Pwr Unit Status | Power off/down",
        "Power Supply PS1 | Power Supply AC lost",
        "Power Supply PS2 | Power Supply AC lost",
    )
    assert_finds(
        "host.power.lost", "".join(f"  {n} | 05/06/2026 | 14:30:02 | {row} | Asserted\n" for n, row in enumerate(rows))
    )


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"critical_warning": 4}, "critical warning 0x4"),
        ({"available_spare": 3}, "3 % spare left, 10 % wanted"),
        ({"media_errors": 8}, "8 media errors"),
    ],
)
def test_smart_of_nvme(changes: dict[str, int], detail: str):
    value = json.loads(SMART)
    value["nvme_smart_health_information_log"] |= changes
    finding = assert_finds("host.disk.failing", json.dumps(value, indent=2))
    assert (finding.component, finding.detail) == ("nvme0", detail)


def test_redfish_names_the_sick_fan():
    value = json.loads(REDFISH)
    value["Fans"][0]["Status"]["Health"] = "Critical"
    assert assert_finds("host.fan.failed", json.dumps(value, indent=2)).component == "Fan 1"


def test_an_infiniband_port_without_signal_or_slower_than_its_sisters():
    third = "CA 'mlx5_3'\n\tPort 1:\n\t\tState: {}\n\t\tPhysical state: {}\n\t\tRate: {}\n\t\tLink layer: InfiniBand\n"
    assert assert_finds("fabric.link_down", IBSTAT + third.format("Down", "Polling", 10)).component == "mlx5_3"
    assert assert_finds("fabric.rate_degraded", IBSTAT + third.format("Active", "LinkUp", 200)).component == "mlx5_3"


def test_a_gpu_with_fewer_lanes_than_its_slot():
    assert (
        assert_finds("gpu.pcie.degraded", LSPCI.replace("Width x8, ASPM", "Width x16, ASPM")).component
        == "0000:81:00.0"
    )


def test_counters_of_a_bad_cable():
    row = " GUID 0x0c42a10300aa0001 port 1: [SymbolErrorCounter == {}] [LinkDownedCounter == 2]\n"
    assert_finds("fabric.symbol_errors", row.format(65535))
    assert_quiet(row.format(3))
