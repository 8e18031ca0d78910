"""What an on-call engineer pastes at night: which of several faults is the root, and what is too little for an alarm."""

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of, followers

XID79 = "NVRM: Xid (PCI:0000:41:00): 79, pid=0, GPU has fallen off the bus."
SLOT = "pcieport 0000:40:01.1: pciehp: Slot(5): Link Down"
SMI_TABLE = """\
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   31C    P0             71W /  700W |       1MiB /  81559MiB |      0%      Default |
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:43:00.0 Off |                    @ |
| N/A   33C    P0             70W /  700W |       1MiB /  81559MiB |      0%      Default |
"""


def kernel(*messages: str, step: float = 0.1) -> str:
    return "".join(f"[{8000 + n * step:.6f}] {message}\n" for n, message in enumerate(messages))


@pytest.mark.parametrize("lines", [(SLOT, XID79), (XID79, SLOT)], ids=["port first", "board first"])
def test_the_board_that_is_gone_is_the_root_and_its_port_only_tells_of_it(lines: tuple[str, str]):
    found = assert_finds("gpu.off_bus", kernel(*lines))
    assert (found.component, followers(found)) == ("0000:41:00.0", ["host.pcie.link_down"])


def test_a_port_that_takes_two_boards_with_it_is_the_root():
    found = assert_finds("host.pcie.link_down", kernel(SLOT, XID79, XID79.replace("0000:41:00", "0000:42:00")))
    assert followers(found) == ["gpu.off_bus", "gpu.off_bus"]


def test_a_port_that_failed_an_hour_before_is_a_fault_of_its_own():
    faults = {one.fault for one in diagnosis_of(kernel(SLOT, XID79, step=3600)).findings if one.root}
    assert faults == {"host.pcie.link_down", "gpu.off_bus"}


def test_a_fatal_error_of_the_bus_explains_the_panic():
    text = kernel(
        "{3}[Hardware Error]: event severity: fatal",
        "{3}[Hardware Error]:   section_type: PCIe error",
        "{3}[Hardware Error]:   device_id: 0000:40:01.1",
        "Kernel panic - not syncing: Fatal hardware error!",
    )
    assert followers(assert_finds("host.pcie.fatal", text)) == ["os.kernel_panic"]


def test_the_container_that_found_the_wrong_driver_is_no_fault_of_its_own():
    text = "OCI runtime create failed: nvidia-container-cli: initialization error: nvml error: driver/library version mismatch"
    found = assert_finds("gpu.driver.mismatch", text)
    assert set(followers(found)) == {"container.gpu_runtime", "container.start_failed"}


def test_the_container_tool_that_finds_no_gpu_is_the_root():
    text = (
        "OCI runtime create failed: error running prestart hook: nvidia-container-cli: device error: 0: unknown device"
    )
    assert followers(assert_finds("container.gpu_runtime", text)) == ["container.start_failed"]


def test_the_fabric_manager_falls_with_its_switch():
    text = (
        "Nov 19 03:11:02 n1 kernel: nvidia-nvswitch3: SXid (PCI:0000:89:00.0): 22013, Fatal, Link 04 minion link dlreq\n"
        "Nov 19 03:11:03 n1 systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n"
    )
    assert followers(assert_finds("gpu.nvswitch.error", text)) == ["gpu.fabric_manager"]


AER = (
    "pcieport 0000:b0:02.0: AER: Corrected error received: 0000:b1:00.0",
    "nvme 0000:b1:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
)


def test_one_corrected_error_of_the_bus_is_no_storm():
    assert_quiet(kernel(*AER))


@pytest.mark.parametrize("text", [kernel(*AER * 4), kernel(AER[0].replace("Corrected", "Multiple Corrected"), AER[1])])
def test_corrected_errors_that_go_on_are_one(text: str):
    assert assert_finds("host.pcie.correctable", text).component == "0000:b1:00.0"


HOT = "mce: CPU4: Core temperature above threshold, cpu clock throttled (total events = %d)"


def test_a_processor_that_was_hot_for_a_moment_is_no_alarm():
    assert_quiet(kernel(HOT % 1, "mce: CPU4: Core temperature/speed normal"))


@pytest.mark.parametrize(
    "text",
    [
        kernel(HOT % 1),
        kernel(HOT % 1, "mce: CPU5: Core temperature/speed normal"),
        kernel(HOT % 2675, "mce: CPU4: Core temperature/speed normal"),
    ],
)
def test_a_processor_that_stays_hot_or_throttles_all_day_is_one(text: str):
    assert assert_finds("host.cpu.thermal", text).component == "CPU 4"


def test_the_table_of_nvidia_smi_tells_its_uncorrected_errors_and_what_it_does_not_show():
    assert assert_finds("gpu.ecc.uncorrectable", SMI_TABLE.replace("@", "2")).component == "0000:43:00.0"
    healthy = assert_quiet(SMI_TABLE.replace("@", "0"))
    assert healthy.verdict.state == "clean"
    assert "nvidia-smi -q" in healthy.could_not_check[0].reason


def test_the_kernel_log_inside_a_bug_report_is_read():
    report = "==============NVSMI LOG==============\nAttached GPUs : 1\n" + SMI_TABLE.replace("@", "0") + kernel(XID79)
    assert assert_finds("gpu.off_bus", report).component == "0000:41:00.0"


def test_a_disk_that_the_kernel_gives_up_is_named_and_one_reset_is_not():
    frozen = "ata3.00: exception Emask 0x10 SAct 0x0 SErr 0x4050000 action 0xe frozen"
    assert_quiet(kernel(frozen, "ata3: hard resetting link"))
    assert assert_finds("host.disk.timeout", kernel(frozen, "ata3.00: disabled")).component == "ata3"


def test_nvidia_smi_without_a_gpu_is_a_fault():
    assert_finds("gpu.count_mismatch", "No devices were found\n")
