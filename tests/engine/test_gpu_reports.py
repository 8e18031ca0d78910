"""What agents, events and node conditions say of GPUs, and what the kernel's PCI code says before the driver."""

import json

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of

XID = "NVRM: Xid (PCI:0000:9d:00): 94, pid=7, name=python3, Contained: SM (0x1). RST: No, D-RST: No"


def sentinel(code: str, *, healthy: bool = False, gpu: str = "4") -> str:
    return json.dumps(
        {
            "agent": "gpu-health-monitor", "isHealthy": healthy, "message": "a message", "errorCode": [code],
            "entitiesImpacted": [{"entityType": "GPU", "entityValue": gpu}], "nodeName": "n1",
        },
        indent=1,
    )  # fmt: skip


def test_a_code_of_dcgm_names_the_fault_and_the_gpu():
    found = assert_finds("gpu.row_remap.pending", sentinel("DCGM_FR_PENDING_ROW_REMAP"))
    assert (found.component, found.node) == ("GPU 4", "n1")
    assert_quiet(sentinel("DCGM_FR_PENDING_ROW_REMAP", healthy=True))
    line = "2026-03-02 03:10:35 n1 watch: health=FAIL entity=GPU:7 code=DCGM_FR_UNCONTAINED_ERROR msg=..."
    assert assert_finds("gpu.ecc.uncontained", line).component == "GPU 7"


def test_a_code_in_a_program_or_taken_back_is_no_report():
    assert_quiet("2026-03-02 03:10:35 n1 watch: mapping DCGM_FR_UNCONTAINED_ERROR to RESTART_VM")
    assert_quiet("2026-03-02 03:10:35 n1 watch: GPU:7 DCGM_FR_UNCONTAINED_ERROR cleared")


def test_an_agent_quotes_the_kernel():
    event = {
        "component": "accelerator-nvidia-error-xid",
        "events": [{"type": "Fatal", "message": "XID 94", "raw": XID}],
    }
    assert assert_finds("gpu.ecc.contained", json.dumps(event)).component == "0000:9d:00.0"
    event["events"] = [{"type": "Warning", "message": "XID 43 detected on PCI:0000:9d:00"}]
    assert_quiet(json.dumps(event))


def test_an_agents_counters_carry_the_names_of_nvidia_smi():
    state = {
        "name": "ecc",
        "health": "Unhealthy",
        "reason": "accelerator-nvidia-ecc",
        "extra": {"SRAM Threshold Exceeded": "Yes"},
    }
    assert_finds("gpu.ecc.sram_threshold", json.dumps({"states": [state]}))


def test_events_of_a_node_quote_the_kernel():
    head = "LAST SEEN   TYPE      REASON   OBJECT      MESSAGE\n"
    found = assert_finds("gpu.ecc.contained", f"{head}4m12s       Warning   XidEcc   node/n5     kernel: {XID}\n")
    assert (found.component, found.node) == ("0000:9d:00.0", "n5")
    event = {
        "kind": "Event", "apiVersion": "v1", "type": "Warning", "reason": "Xid", "message": XID,
        "involvedObject": {"kind": "Node", "name": "n5"},
    }  # fmt: skip
    assert assert_finds("gpu.ecc.contained", json.dumps(event)).node == "n5"
    assert_quiet(f"Mar  2 10:00:00 n5 agent[7]: seen: Warning sign: {XID}")


WAYS = {
    "a code": {"message": "a message", "errorCode": ["DCGM_FR_PENDING_ROW_REMAP"], "gpu": "GPU 4"},
    "the kernel": {"component": "accelerator-nvidia-error-xid", "message": "seen:\n" + XID, "raw": XID},
    "a counter": {"reason": "accelerator-nvidia-ecc", "extra": {"SRAM Threshold Exceeded": "Yes"}},
    "words with signs of their own": {
        "message": 'GPU 4: "row remappings are pending" <é>',
        "agent": "gpu-health-monitor",
    },
    "an Xid": {"message": "XID 94 (contained) detected on PCI:0000:9d:00"},
    "a number": {"checkName": "SysLogsXIDError", "errorCode": ["94"], "message": "a check failed"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("as_ascii", [True, False])
def test_a_report_shows_the_very_line_of_the_document(way: str, as_ascii: bool):
    told = [{"component": "cpu", "health": "Healthy", "message": "ok"}, WAYS[way]]
    text = json.dumps({"events": told}, indent=1, ensure_ascii=as_ascii)
    finding = next(one for one in diagnosis_of(text).findings if one.root)
    assert finding.line_number > text[: text.index('"ok"')].count("\n")
    assert finding.line == text.splitlines()[finding.line_number - 1].strip()


def test_equal_reports_show_a_line_each():
    check = {"agent": "syslog-health-monitor", "checkName": "SysLogsXIDError"}
    rows = [
        check | {"isHealthy": True, "message": "No Health Failures"},
        check | {"errorCode": ["94"], "message": "a check failed", "nodeName": "n1"},
        check | {"errorCode": ["94"], "message": "a check failed", "nodeName": "n2"},
    ]
    text = json.dumps(rows, indent=1)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "SysLogsXIDError" in line]
    assert sorted(one.line_number for one in diagnosis_of(text).findings) == lines[1:]


def test_a_counter_is_shown_where_its_value_stands():
    extra = {
        "about": "SRAM Threshold Exceeded",
        "old": {"SRAM Threshold Exceeded": "No"},
        "SRAM Threshold Exceeded": "Yes",
    }
    state = {"name": "ecc", "health": "Unhealthy", "reason": "accelerator-nvidia-ecc", "extra": extra}
    found = assert_finds("gpu.ecc.sram_threshold", json.dumps({"states": [state]}, indent=1))
    assert found.line == '"SRAM Threshold Exceeded": "Yes"'


@pytest.mark.parametrize("as_ascii", [True, False])
def test_events_whose_message_has_signs_of_its_own_show_their_line(as_ascii: bool):
    about = {"kind": "Node", "name": "n5"}
    items = [
        {"kind": "Event", "metadata": {"name": f"e{bus}"}, "reason": "Xid", "message": f'"é" kernel: {XID.replace("9d", bus)}',
         "involvedObject": about}
        for bus in ("1a", "9d")
    ]  # fmt: skip
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": items}, indent=1, ensure_ascii=as_ascii)
    found = diagnosis_of(text).findings
    assert len(found) == 2
    for one in found:
        assert one.line == text.splitlines()[one.line_number - 1].strip()
        assert f"PCI:{one.component}"[:-2] in one.line


def test_a_report_without_words_says_nothing():
    assert_quiet(json.dumps({"component": "accelerator-nvidia-error-xid", "message": [None]}))


GPU = "[    2.9] pci 0000:b1:00.0: [10de:26b9] type 00 class 0x030200 PCIe Endpoint\n"
LIMITED = (
    "[    3.8] pci 0000:b1:00.0: 63.012 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x{} link at 0000:b0:01.0 "
    "(capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n"
)


def test_the_kernel_tells_a_narrow_link_of_a_gpu():
    assert_finds("gpu.pcie.degraded", GPU + LIMITED.format(4))
    assert_quiet(GPU + LIMITED.format(8))
    assert_quiet(LIMITED.format(4))


def test_address_space_that_was_found_at_last_is_well():
    failed = "[    3.0] pci 0000:b1:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]\n"
    assert assert_finds("gpu.pcie.bar_space", GPU + failed).component == "0000:b1:00.0"
    assert_quiet(
        GPU + failed + "[    3.1] pci 0000:b1:00.0: BAR 1: assigned [mem 0x382000000000-0x383fffffffff 64bit pref]\n"
    )
    assert_quiet(GPU + failed.replace("BAR 1", "BAR 6"))
    assert_quiet(failed)


def test_lanes_as_sysfs_has_them():
    folder = "/sys/bus/pci/devices/0000:ca:00.0"
    text = f"{folder}/vendor:0x10de\n{folder}/class:0x030200\n{folder}/current_link_width:{{}}\n{folder}/max_link_width:16\n"
    assert assert_finds("gpu.pcie.degraded", text.format(2)).component == "0000:ca:00.0"
    assert_quiet(text.format(16))
    assert_quiet(text.format(2).replace("0x10de", "0x8086"))


def test_a_count_below_what_a_check_expected():
    head = "node,check,expected,actual,status\n"
    assert (
        assert_finds("gpu.count_mismatch", f"{head}n1,gpu_count_nvml,8,8,OK\nn2,gpu_count_nvml,8,7,FAIL\n").node == "n2"
    )
    assert_quiet(f"{head}n1,gpu_count_nvml,8,8,OK\n")


def test_the_bridge_of_an_amd_board_is_what_the_slot_sees():
    bridge = "[    2.9] pci 0000:b1:00.0: [1002:1478] type 01 class 0x060400\n"
    accelerator = "[    2.9] pci 0000:b1:00.0: [1002:74a1] type 00 class 0x120000 PCIe Endpoint\n"
    for found in (bridge, accelerator):
        assert_finds("gpu.pcie.degraded", found + LIMITED.format(4))
        assert_quiet(found + LIMITED.format(8))


def test_a_message_of_dcgm_in_the_line_of_another_program():
    line = "Mar  2 10:00:00 n7 healthd[77]: {}GPU 3 had uncorrectable memory errors and row remapping failed. Run a field diagnostic\n"
    assert assert_finds("gpu.row_remap.failed", line.format("")).component == "GPU 3"
    assert_quiet(line.format("resolved: "))
    assert_quiet(line.format("").replace("GPU 3", "a board"))


def test_a_condition_of_a_node_names_an_xid():
    condition = "AcceleratedHardwareReady  {}  Mon, 02 Mar 2026 10:00:00 +0000  {}  {}\n"
    assert_finds("gpu.off_bus", condition.format("False", "NvidiaXID79Error", "XID 79"))
    assert_quiet(condition.format("True", "NvidiaAcceleratedHardwareIsReady", "Monitoring is active"))
    assert_quiet(condition.format("True", "NvidiaXID13Warning", "XID 13"))
    assert (
        assert_finds("gpu.ecc.uncorrectable", "3m Warning NvidiaXid48 node/gpu-7 Xid 48 was detected\n").node == "gpu-7"
    )
    assert_finds("gpu.ecc.uncontained", "XID error-codes found: 95, 45. FaultCode: NHC2001\n")
