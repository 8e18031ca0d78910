"""One fact, many forms: whoever tells of an Xid, it is the same fault, in the same role, at the same part."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from diagnostics.engine.types import Finding

from .helpers import assert_finds, assert_quiet, diagnosis_of

PCI = "0000:1a:00"
BOARD = "0000:1a:00.0"
UUID = "GPU-7c1d5a9e-0b3f-4c66-9a21-5d2f60b1e377"


@dataclass(frozen=True)
class Fact:
    number: int
    text: str
    fault: str
    is_root: bool = True

    @property
    def name(self) -> str:
        return "SXID" if self.number > 9999 else "XID"

    @property
    def printed(self) -> str:
        """The driver's line."""
        if self.name == "SXID":
            return f"nvidia-nvswitch1: SXid (PCI:{BOARD}): {self.number}, {self.text}"
        return f"NVRM: Xid (PCI:{PCI}): {self.number}, {self.text}"


FACTS = [
    Fact(79, "GPU has fallen off the bus.", "gpu.off_bus"),
    Fact(48, "DBE (double bit error) ECC Error", "gpu.ecc.uncorrectable"),
    Fact(63, "Row Remapper: New row marked for remapping", "gpu.row_remap.pending"),
    Fact(64, "Row Remapper: All reserved rows for bank are remapped", "gpu.row_remap.failed"),
    Fact(94, "Contained: SM (0x1). RST: No, D-RST: No", "gpu.ecc.contained"),
    Fact(95, "Uncontained: LTC TAG. RST: Yes, D-RST: No", "gpu.ecc.uncontained"),
    Fact(119, "Timeout after 6s of waiting for RPC response from GPU0 GSP!", "gpu.gsp"),
    Fact(74, "NVLink: fatal error detected on link 4(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)", "gpu.nvlink.error"),
    Fact(13, "Graphics SM Warp Exception on (GPC 1, TPC 3, SM 1): Illegal Address", "gpu.app.exception"),
    Fact(31, "MMU Fault: ENGINE GRAPHICS", "gpu.app.mmu_fault"),
    Fact(43, "Ch 00000008", "gpu.app.channel_stopped", is_root=False),
    Fact(14, "a fake error", "node.unclassified", is_root=False),
    Fact(42, "", "node.unclassified"),
    Fact(154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", "gpu.reset_required"),
]  # fmt: skip

SWITCH = Fact(20034, "Fatal, Link 48 LTSSM Fault Up", "gpu.nvswitch.error")
# What only the words beside the number tell.
TOLD = [
    SWITCH,
    Fact(20034, "Non-fatal, Link 48 LTSSM Fault Up", "gpu.nvswitch.nonfatal"),
    Fact(22013, "Non-fatal, Link 4 an error", "gpu.nvswitch.nonfatal", is_root=False),
    Fact(63, "Dynamic Page Retirement: New page retired", "gpu.page_retirement.pending"),
    Fact(79, "GPU has fallen off the bus, error injected by a test.", "gpu.off_bus", is_root=False),
    Fact(149, "NETIR_LINK_EVT Fatal XC0 i1 Link 01 (0x021425c6 0x00000000)", "gpu.nvlink.error", is_root=False),
    Fact(149, "NETIR_LINK_EVT Nonfatal XC0 i0 Link 01 (0x021425c6 0x00000000)", "gpu.nvlink.degraded"),
    Fact(154, "GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)", "gpu.reset_required", is_root=False),
]  # fmt: skip


def kernel(fact: Fact) -> str:
    return f"[  812.004431] {fact.printed}\n"


def of_a_process(fact: Fact) -> str:
    return f"[  812.004431] NVRM: Xid (PCI:{PCI} GPU-I:05): {fact.number}, pid=71, name=python3, {fact.text}\n"


def old_driver(fact: Fact) -> str:
    return f"[  812.004431] NVRM: Xid ({PCI}): {fact.number}, {fact.text}\n"


def bare(fact: Fact) -> str:
    return f"{fact.printed}\n"


def with_a_clock(fact: Fact) -> str:
    return f"08:41:07  {fact.printed}\n"


def esxi(fact: Fact) -> str:
    return f"2026-11-03T09:12:44.120Z cpu37:2101544){fact.printed}\n"


def windows(fact: Fact) -> str:
    return f"11/3/2026 9:12:44 AM Error nvlddmkm 13 None \\Device\\0000008a {fact.printed}\n"


def metric(fact: Fact) -> str:
    labels = f'gpu="3",UUID="{UUID}",pci_bus_id="00000000:1A:00.0",modelName="NVIDIA H100 80GB HBM3",Hostname="n7"'
    return f"# TYPE DCGM_FI_DEV_XID_ERRORS gauge\nDCGM_FI_DEV_XID_ERRORS{{{labels}}} {fact.number}\n"


def counted(fact: Fact) -> str:
    labels = f'gpu="3",pci_bus_id="00000000:1A:00.0",Hostname="n7",window_size_in_ms="300000",xid="{fact.number}"'
    return f"# TYPE DCGM_FI_DEV_XID_ERRORS_ACTIVE gauge\nDCGM_FI_DEV_XID_ERRORS_ACTIVE{{{labels}}} 2\n"


def event(fact: Fact) -> str:
    return json.dumps(
        {
            "kind": "Event", "apiVersion": "v1", "type": "Warning", "reason": "XidError",
            "message": f"kernel: [16.5] {fact.printed}", "involvedObject": {"kind": "Node", "name": "n7"},
        },
        indent=1,
    )  # fmt: skip


def event_row(fact: Fact) -> str:
    return (
        "LAST SEEN   TYPE      REASON       OBJECT    MESSAGE\n"
        f"31s         Warning   XidError     node/n7   kernel: {fact.printed}\n"
    )


def told_condition(fact: Fact) -> str:
    return f"ErrorCode:{fact.number} PCI:{PCI} GPU_UUID:{UUID} kernel: [16.5] {fact.printed};"


def condition_row(fact: Fact) -> str:
    return (
        "Conditions:\n  Type             Status  LastHeartbeatTime                 Reason                       Message\n"
        f"  SysLogsXIDError  True    Tue, 03 Nov 2026 09:12:44 +0000   SysLogsXIDErrorIsNotHealthy  {told_condition(fact)}\n"
    )


def condition(fact: Fact) -> str:
    row = {
        "type": "SysLogsXIDError", "status": "True", "reason": "SysLogsXIDErrorIsNotHealthy", "message": told_condition(fact),
    }  # fmt: skip
    return json.dumps(
        {"kind": "Node", "metadata": {"name": "n7"}, "status": {"conditions": [row], "nodeInfo": {}}}, indent=1
    )


def slurm_reason(fact: Fact) -> str:
    return f"NodeName=n7 Arch=x86_64\n   State=IDLE+DRAIN ThreadsPerCore=1\n   Reason={fact.printed} [root@2026-11-03T09:12:44]\n"


def gpud_event(fact: Fact) -> str:
    told = {"name": "error_xid", "type": "Fatal", "message": gpud_line(fact).rstrip()}
    return json.dumps([{"component": "accelerator-nvidia-error-xid", "events": [told]}], indent=1)


def gpud_line(fact: Fact) -> str:
    return f"{fact.name} {fact.number}({fact.text}) detected on PCI:{PCI}\n"


def health_state(fact: Fact) -> str:
    return json.dumps({"checks": [{"name": "gpu", "status": "fail", "message": fact.printed}]}, indent=1)


def sentinel(fact: Fact) -> str:
    places = [{"entityType": "PCI", "entityValue": PCI}, {"entityType": "GPU_UUID", "entityValue": UUID}]
    report = {
        "agent": "syslog-health-monitor", "checkName": f"SysLogs{fact.name}Error", "isFatal": True, "errorCode": [str(fact.number)],
        "message": f"kernel: [16450.463693] {fact.printed}", "entitiesImpacted": places,
        "nodeName": "n7",
    }  # fmt: skip
    return json.dumps({"version": 1, "events": [report]}, indent=1)


WITH_WORDS = (
    kernel, bare, with_a_clock, esxi, windows, event, event_row, condition_row, condition, slurm_reason, gpud_event, gpud_line,
    health_state, sentinel,
)  # fmt: skip
OF_A_NODE = (event, event_row, condition, slurm_reason, sentinel)


@pytest.mark.parametrize(
    "form", [*WITH_WORDS, of_a_process, old_driver, metric, counted], ids=lambda form: form.__name__
)
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: str(fact.number))
def test_one_fact_means_the_same_in_every_form_with_an_address(fact: Fact, form: Callable[[Fact], str]):
    assert_same(fact, form(fact), BOARD)


@pytest.mark.parametrize("form", WITH_WORDS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("fact", TOLD, ids=lambda fact: f"{fact.number} {fact.text[:12]}")
def test_words_beside_the_number_count_in_every_form(fact: Fact, form: Callable[[Fact], str]):
    found = assert_same(fact, form(fact), BOARD)
    assert found.injected == (fact.number == 79 or " i1 " in fact.text)
    assert found.node == ("n7" if form in OF_A_NODE else None)


def assert_same(fact: Fact, text: str, component: str | None) -> Finding:
    withheld = "container.device_plugin"  # what a device plug-in did about it
    found = [one for one in diagnosis_of(text).findings if one.fault != withheld]
    assert [(one.fault, one.root, one.component) for one in found] == [(fact.fault, fact.is_root, component)], text
    return found[0]


def plugin(fact: Fact) -> tuple[str, str]:
    return (
        f"2026/11/03 09:12:44 XidCriticalError: Xid={fact.number} on Device={UUID}, the device will go unhealthy.\n",
        UUID,
    )


def sentinel_without_words(fact: Fact) -> tuple[str, str]:
    report = {
        "agent": "syslog-health-monitor", "checkName": "SysLogsXIDError", "errorCode": [str(fact.number)],
        "entitiesImpacted": [{"entityType": "GPU_UUID", "entityValue": UUID}],
    }  # fmt: skip
    return json.dumps([report]), UUID


def drained(fact: Fact) -> tuple[str, str]:
    return (
        f"REASON               USER      TIMESTAMP           NODELIST\nGPU 3 Xid {fact.number}         root      2026-11-03T09:12:44 n7\n",
        "GPU 3",
    )


def reason_of_a_condition(fact: Fact) -> tuple[str, None]:
    return (
        f"AcceleratedHardwareReady  False  Tue, 03 Nov 2026 09:12:44 +0000  NvidiaXID{fact.number}Error  a critical error\n",
        None,
    )


def monitored(fact: Fact) -> tuple[str, str]:
    return (
        f"#Entity   SMCLK      XIDER\nID        MHz\nGPU 2     1755       0\nGPU 3     1755       {fact.number}\n",
        "GPU 3",
    )


@pytest.mark.parametrize(
    "form", [monitored, plugin, sentinel_without_words, drained, reason_of_a_condition], ids=lambda form: form.__name__
)
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: str(fact.number))
def test_a_number_alone_means_the_same(fact: Fact, form: Callable[[Fact], tuple[str, str | None]]):
    text, component = form(fact)
    assert_same(fact, text, component)


def diag_json(fact: Fact) -> str:
    result = {
        "entity_group": "GPU", "entity_group_id": 1, "entity_id": 3, "status": "Fail",
        "warnings": [{"warning": f"Detected XID {fact.number} for GPU 3", "error_id": 101}],
    }  # fmt: skip
    tests = [{"name": "pcie", "results": [result]}]
    return json.dumps({"DCGM Diagnostic": {"test_categories": [{"category": "Integration", "tests": tests}]}}, indent=1)


def diag_table(fact: Fact) -> str:
    return (
        "+---------------------------+------------------------------------------------+\n"
        "| Diagnostic                | Result                                         |\n"
        "+===========================+================================================+\n"
        "+-----  Integration  -------+------------------------------------------------+\n"
        "| PCIe                      | Fail - GPU: 3                                  |\n"
        f"| Warning                   | {f'Detected XID {fact.number} for GPU 3':46} |\n"
        "+---------------------------+------------------------------------------------+\n"
    )


def health_json(fact: Fact) -> str:
    message = {"value": f"Detected XID {fact.number} for GPU 3"}
    system = {"value": "Failure", "children": {"Message": message}}
    gpu = {"value": "Failure", "children": {"Errors": {"children": {"Driver system": system}}}}
    return json.dumps({"body": {"GPU": {"children": {"3": gpu}}}, "header": ["Health Monitor Report"]}, indent=1)


def agent_line(fact: Fact) -> str:
    return f'preflight {{"event": "Test fail", "test": "pcie", "error_code": 101, "detail": "Detected XID {fact.number} for GPU 3"}}\n'


def health_table(fact: Fact) -> str:
    edge = "+---------------------------+----------------------------------------------------------+\n"
    rows = [
        ("Health Monitor Report", ""), ("Overall Health", "Failure"), ("GPU", ""), ("-> 3", "Failure"), ("   -> Errors", ""),
        ("      -> Driver system", "Failure"), ("", f"Detected XID {fact.number} for GPU 3"),
    ]  # fmt: skip
    return edge + "".join(f"| {name:25} | {cell:56} |\n" for name, cell in rows) + edge


OF_DIAG = (diag_json, diag_table, agent_line)


@pytest.mark.parametrize("form", [*OF_DIAG, health_json, health_table], ids=lambda form: form.__name__)
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: str(fact.number))
def test_dcgm_tells_the_same_and_a_test_that_a_mere_note_ended_has_failed(fact: Fact, form: Callable[[Fact], str]):
    found = diagnosis_of(form(fact)).findings
    told = [(one.fault, one.root, one.component) for one in found]
    assert (fact.fault, fact.is_root, "GPU 3") in told
    assert ("gpu.diag.failed" in [one.fault for one in found if one.root]) == (not fact.is_root)


@pytest.mark.parametrize("number", [13, 79])
def test_a_report_shows_the_line_that_tells_it(number: int):
    events = [{"type": "Fatal", "message": f"XID {number} detected on PCI:0000:{bus}:00"} for bus in ("1a", "9d")]
    text = json.dumps([{"component": "accelerator-nvidia-error-xid", "events": events}], indent=1)
    lines = text.splitlines()
    found = diagnosis_of(text).findings
    assert sorted(one.component or "" for one in found) == [BOARD, "0000:9d:00.0"]
    for one in found:
        assert one.line == lines[one.line_number - 1].strip()
        assert (one.component or "")[:10] in one.line


def test_one_condition_names_several_boards():
    message = f"ErrorCode:79 PCI:{PCI} Recommended Action=RESTART_BM;ErrorCode:48 PCI:0000:9d:00 Recommended Action=COMPONENT_RESET;"
    text = condition_row(FACTS[0]).replace(told_condition(FACTS[0]), message)
    assert {(one.fault, one.component) for one in diagnosis_of(text).findings} == {
        ("gpu.off_bus", BOARD), ("gpu.ecc.uncorrectable", "0000:9d:00.0"),
    }  # fmt: skip


@pytest.mark.parametrize(("word", "fault"), [("", "gpu.nvswitch.error"), ("NON_", "gpu.nvswitch.nonfatal")])
def test_the_value_of_a_switchs_metric_is_its_last_sxid(word: str, fault: str):
    series = f'DCGM_FI_DEV_NVSWITCH_{word}FATAL_ERRORS{{nvswitch="nvswitch2",Hostname="n7"}}'
    found = assert_finds(fault, f"{series} {SWITCH.number}\n")
    assert (found.component, found.node) == ("NvSwitch 2", "n7")
    assert "SXid 20034" in found.detail
    assert_quiet(f"{series} 0\n")


def test_a_follower_that_names_an_unseen_cause_carries_what_authorities_say_of_the_cause():
    follower = f"[    5.2] NVRM: Xid (PCI:{PCI}): 45, pid=9, name=p, Ch 0, caused by previous Xid 79\n"
    found = assert_finds("gpu.off_bus", follower)
    assert found.authorities == assert_finds("gpu.off_bus", kernel(FACTS[0])).authorities


def test_the_words_of_a_failed_check_name_an_xid():
    checks = [{"name": "gpu", "status": status, "message": f'"node": Xid error 79 on GPU {gpu}'} for gpu, status in
              enumerate(("pass", "fail", "fail"))]  # fmt: skip
    text = json.dumps({"checks": checks}, indent=1)
    found = diagnosis_of(text).findings
    assert {(one.fault, one.component) for one in found} == {("gpu.off_bus", "GPU 1"), ("gpu.off_bus", "GPU 2")}
    for one in found:
        assert one.line == text.splitlines()[one.line_number - 1].strip()
        assert f"on {one.component}" in one.line


@pytest.mark.parametrize(
    "text",
    [
        "Nov  3 09:12:44 n7 agent[9]: no Xid 79 seen since the last boot\n",
        "If XID 79 is detected on PCI:0000:1a:00 the node has to be rebooted.\n",
        "Nov  3 09:12:44 n7 agent[9]: ignoring Xids 13, 31, 43, 45, 68 and 109\n",
        "2026/11/03 09:12:44 INFO recorded condition Message:ErrorCode:119 PCI:0002:00:00 Recommended Action=COMPONENT_RESET\n",
        "usage: watch [-x XID ...]   XID 79 (fallen off the bus) is always watched\n",
        '{"component": "accelerator-nvidia-error-xid", "events": [], "message": "XID errors: 0"}',
        "DCGM_EXP_XID_ERRORS_COUNT{gpu=\"3\",xid=\"79\"} 0\n",
        "exporter_xid_scrapes_total{job=\"dcgm\"} 79\n",
        f"Nov  3 09:12:44 n7 agent[9]: last week: kernel: [16.5] NVRM: Xid (PCI:{PCI}): 79, GPU has fallen off the bus.\n",
        f"Nov  3 09:12:44 n7 agent[9]: from Windows: \\Device\\Video3 NVRM: Xid (PCI:{PCI}): 79, GPU has fallen off the bus.\n",
        f"A line such as 'NVRM: Xid (PCI:{PCI}): 79, ...' means that the board is gone.\n",
        '{"checks": [{"name": "gpu", "status": "fail", "message": "no Xid 79 since the boot"}]}',
    ],
)  # fmt: skip
def test_words_about_xids_are_no_report(text: str):
    assert assert_quiet(text).findings == ()


def test_an_xid_that_an_agent_saw_pass_is_a_note():
    assert_quiet(f"XID 79(GPU has fallen off the bus) detected on PCI:{PCI} was resolved by a reboot\n")
    assert_quiet(f"XID 79 injected by a drill, detected on PCI:{PCI}\n")
