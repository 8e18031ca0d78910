"""DCGM: its table of messages, and diag and health in text and JSON."""

import json

import pytest

from diagnostics.engine.catalog import dcgm
from incidents.domain import faults

from .helpers import assert_finds, assert_quiet

DIAG = """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
|                           | GPU0: Pass                                     |
+-----  Hardware  ----------+------------------------------------------------+
| memory                    | {result} |
{more}+---------------------------+------------------------------------------------+
"""


def test_every_code_has_a_known_fault():
    for error in dcgm.errors():
        assert not error.fault or faults.get(error.fault)
    assert len(dcgm.by_number()) == len(dcgm.errors()) == 130


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Detected 3 volatile double-bit ECC error(s) in GPU 1.", "gpu.ecc.uncorrectable"),
        ("GPU 1 had uncorrectable memory errors and row remapping failed.", "gpu.row_remap.failed"),
        ("GPU 1 had memory errors and row remappings are pending", "gpu.row_remap.pending"),
        ("GPU 1's NvLink link 4 is currently down", "gpu.nvlink.error"),
        ("Detected more than 8 PCIe replays per minute for GPU 1 : 13", "gpu.pcie.replay"),
        (
            "GPU 1 is running at PCI link width 8X, which is below the minimum allowed link generation of 16",
            "gpu.pcie.degraded",
        ),
        ("SRAM Threshold Count exceeded on GPU 1: 5", "gpu.ecc.sram_threshold"),
        ("GPU 1 has fallen off the bus", "gpu.off_bus"),
        ("Detected XID 95 for GPU 1", "gpu.ecc.uncontained"),
        ("GPU 1: Fabric State is In Progress (2).", "gpu.fabric_manager"),
        ("IMEX daemon status is DOWN (3)", "gpu.imex"),
        (
            "GPU 1 operating at reduced capacity due to a fault. Recovery action: 4 (DRAIN_AND_RESET).",
            "gpu.reset_required",
        ),
        ("Detected fatal errors on NvSwitch 2 link 14", "gpu.nvswitch.error"),
    ],
)
def test_messages(text: str, fault: str):
    status = "Fail - GPU: 1" if "GPU 1" in text else "Fail"
    cells = [text[at : at + 46] for at in range(0, len(text), 46)]
    rows = f"| Warning                   | {cells[0]:46} |\n" + "".join(
        f"|                           | {cell:46} |\n" for cell in cells[1:]
    )
    finding = assert_finds(fault, DIAG.format(result=f"{status:46}", more=rows))
    assert finding.component in ("GPU 1", None)
    for version in ("DCGM Diagnostic", "DCGM GPU Diagnostic"):
        assert_finds(fault, json.dumps(document(version, "Fail", [{"warning": text, "error_id": 9999}])))
        assert_finds(fault, json.dumps(document(version, "Fail", text)))


def document(version: str, status: str, warnings: object) -> dict[str, object]:
    result = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 1, "status": status, "warnings": warnings}
    return {
        version: {"test_categories": [{"category": "Hardware", "tests": [{"name": "memory", "results": [result]}]}]}
    }


def test_a_diag_that_passed_is_silent():
    assert_quiet(DIAG.format(result=f"{'Pass - All':46}", more=""))
    assert_quiet(
        DIAG.format(
            result=f"{'Skip - All':46}",
            more="| Info                      | test memory was skipped                        |\n",
        )
    )
    assert_quiet(json.dumps(document("DCGM Diagnostic", "Pass", [])))


def test_a_failure_without_a_known_reason_is_a_failed_diagnostic():
    assert assert_finds("gpu.diag.failed", DIAG.format(result=f"{'Fail - GPU: 3':46}", more="")).component == "GPU 3"
    assert assert_finds("gpu.diag.failed", json.dumps(document("DCGM Diagnostic", "Fail", []))).component == "GPU 1"


HEALTH = """\
+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | {all:56} |
| GPU                       |                                                          |
| -> 0                      | Healthy                                                  |
{more}+---------------------------+----------------------------------------------------------+
"""
UNWELL = """\
| -> 1                      | {0:56} |
|    -> Errors              |                                                          |
|       -> {1:17}| {0:56} |
|                           | {2:56} |
"""


def test_health():
    assert_quiet(HEALTH.format(all="Healthy", more=""))
    down = HEALTH.format(
        all="Failure", more=UNWELL.format("Failure", "NVLINK system", "GPU 1's NvLink link 3 is currently down")
    )
    assert assert_finds("gpu.nvlink.error", down).component == "GPU 1"
    told = HEALTH.format(all="Warning", more=UNWELL.format("Warning", "Thermal system", ""))
    assert assert_finds("gpu.thermal.slowdown", told).component == "GPU 1"


def test_health_as_json():
    unwell = {"value": "Failure", "children": {"Errors": {"children": {"PCIe system": {"value": "Warning", "children": {
        "Message": {"value": "Detected more than 8 PCIe replays per minute for GPU 1 : 13"}}}}}}}  # fmt: skip
    value = {
        "body": {"Overall Health": {"value": "Healthy"}, "GPU": {"children": {"0": {"value": "Healthy"}}}},
        "header": ["Health Monitor Report"],
    }
    assert_quiet(json.dumps(value))
    value["body"]["GPU"]["children"]["1"] = unwell  # type: ignore[index]
    assert assert_finds("gpu.pcie.replay", json.dumps(value, indent=1)).component == "GPU 1"


def test_discovery():
    assert_quiet("8 GPUs found.\n+--------+-------+\n| GPU ID | Device Information |\n| 0      | Name: NVIDIA H100 |\n")
    assert_finds("gpu.count_mismatch", "0 GPUs found.\n+--------+-------+\n")


def test_monitor():
    heads = "#Entity   SMCLK      DVCCTR     TMPTR\nID        MHz                   C\n"
    text = heads + "GPU 0     1755       4          57\nGPU 1     345        {}        57\n"
    assert_quiet(text.format("4"))
    assert_quiet(text.format("N/A"))
    assert assert_finds("gpu.power.brake", text.format("136")).component == "GPU 1"
