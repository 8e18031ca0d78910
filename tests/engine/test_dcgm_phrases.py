"""Messages of DCGM in the lines of other programs: what the catalogue calls specific enough is found in any of them."""

import json

import pytest

from diagnostics.engine.catalog import dcgm
from diagnostics.engine.catalog.dcgm import DcgmError

from .helpers import assert_quiet, diagnosis_of

# As DCGM fills in its messages; {g} is the GPU.
MESSAGES = {
    "PCI_REPLAY_RATE": "Detected more than 8 PCIe replays per minute for GPU {g} : 13 Reconnect PCIe card.",
    "VOLATILE_DBE_DETECTED": "Detected 2 volatile double-bit ECC error(s) in GPU {g}. Drain the GPU and reset it or reboot the node.",
    "VOLATILE_SBE_DETECTED": "More than 10 single-bit ECC error(s) detected in GPU {g} Volatile SBEs: 14",
    "PENDING_PAGE_RETIREMENTS": "A pending retired page has been detected in GPU {g}.",
    "RETIRED_PAGES_LIMIT": "64 or more retired pages have been detected in GPU {g}.",
    "RETIRED_PAGES_DBE_LIMIT": "An excess of 15 retired pages due to DBEs have been detected in the last 7 days on GPU {g}.",
    "DBE_PENDING_PAGE_RETIREMENTS": "Pending page retirements together with a DBE were detected on GPU {g}.",
    "CORRUPT_INFOROM": "A corrupt InfoROM has been detected in GPU {g}. Flash the InfoROM to clear this corruption.",
    "CLOCKS_EVENT_THERMAL": "Detected clock throttling due to thermal violation in GPU {g}. Verify that the cooling works.",
    "CLOCKS_EVENT_POWER": "Detected clock throttling due to power violation in GPU {g}. Monitor the power conditions.",
    "POWER_UNREADABLE": "Cannot reliably read the power usage for GPU {g}.",
    "NVLINK_ERROR_THRESHOLD": "Detected 120 replay NvLink errors on GPU {g}'s NVLink which exceeds threshold of 1",
    "NVSWITCH_FATAL_ERROR": "Detected fatal errors on NvSwitch 2 link 14",
    "NVSWITCH_NON_FATAL_ERROR": "Detected nonfatal errors on NvSwitch 2 link 14",
    "THERMAL_VIOLATIONS": "There were thermal violations totaling 12.5 seconds for GPU {g}",
    "THERMAL_VIOLATIONS_TS": "Thermal violations totaling 12.5 seconds started at 3.0 seconds into the test for GPU {g}",
    "TEMP_VIOLATION": "Temperature 91 of GPU {g} exceeded user-specified maximum allowed temperature 87",
    "CLOCKS_EVENT_VIOLATION": "Clocks are being throttled for GPU {g} because of clock throttling starting 4.0 seconds into the test.",
    "LOW_BANDWIDTH": "Bandwidth of GPU {g} in direction d2h of 6.20 did not exceed minimum required bandwidth of 20.00.",
    "HIGH_LATENCY": "Latency type d2h of GPU {g} value 120.00 exceeded maximum allowed latency of 100.00.",
    "PCIE_GENERATION": "GPU {g} is running at PCI link generation 3, which is below the minimum allowed link generation of 5",
    "PCIE_WIDTH": "GPU {g} is running at PCI link width 8X, which is below the minimum allowed link generation of 16",
    "PCIE_H_REPLAY_VIOLATION": "GPU {g} host-side PCIe replay violation, see dmesg for more information",
    "STRESS_LEVEL": "Max stress level of 3000.0 did not reach desired stress level of 9000.0 for GPU {g}",
    "FAULTY_MEMORY": "Found 3 faulty memory elements on GPU {g}",
    "NAN_VALUE": "Found 3 NaN-value memory elements on GPU {g}",
    "CUDA_DBE": "CUDA APIs have indicated that a double-bit ECC error has occured on GPU {g}.",
    "MEMORY_MISMATCH": "A memory mismatch was detected on GPU {g}, but no error was reported by CUDA or NVML.",
    "MEMORY_BANDWIDTH": "GPU {g} only achieved a memory bandwidth of 900.00 GB/s, failing to meet 1200.00 GB/s for test 1",
    "TARGET_POWER": "Max power of 320.0 did not reach desired power minimum target_power_min of 650.0 for GPU {g}",
    "NVLINK_CRC_ERROR_THRESHOLD": "140.0 flit NvLink errors found occuring per second on GPU {g}, exceeding the limit of 100 per second.",
    "NVLINK_ERROR_CRITICAL": "Detected 3 recovery NvLink errors on GPU {g}'s NVLink (should be 0)",
    "L1TAG_MISCOMPARE": "GPU {g}: Detected a miscompare failure in the L1 cache.",
    "ROW_REMAP_FAILURE": "GPU {g} had uncorrectable memory errors and row remapping failed.",
    "UNCONTAINED_ERROR": "GPU {g}: GPU had an uncontained error (XID 95)",
    "CONTAINED_ERROR": "GPU {g} had a contained error (XID 94)",
    "UNCORRECTABLE_ROW_REMAP": "GPU {g} had uncorrectable memory errors and 4 rows were remapped",
    "UNCORRECTABLE_ROW_REMAP_LIMIT": "GPU {g} exceeded uncorrectable row remap limit: 9",
    "PENDING_ROW_REMAP": "GPU {g} had memory errors and row remappings are pending",
    "BROKEN_P2P_MEMORY_DEVICE": "GPU {g} was unsuccessfully written to in a peer-to-peer test: bandwidth",
    "BROKEN_P2P_WRITER_DEVICE": "GPU {g} unsuccessfully wrote data in a peer-to-peer test: bandwidth",
    "BROKEN_P2P_PCIE_MEMORY_DEVICE": "GPU {g} was unsuccessfully written to by GPU 5 over PCIe in a peer-to-peer test",
    "BROKEN_P2P_PCIE_WRITER_DEVICE": "GPU {g} unsuccessfully wrote data to GPU 5 over PCIe",
    "BROKEN_P2P_NVLINK_MEMORY_DEVICE": "GPU {g} was unsuccessfully written to by GPU 5 over NvLink in a peer-to-peer test",
    "BROKEN_P2P_NVLINK_WRITER_DEVICE": "GPU {g} unsuccessfully wrote data to GPU 5 over NvLink",
    "GPU_EXPECTED_NVLINKS_UP": "GPU {g}: Only 12 NvLinks are up out of the expected 18",
    "NVSWITCH_EXPECTED_NVLINKS_UP": "NvSwitch 2 - Only 12 NvLinks are up out of the expected 18",
    "EUD_NON_ZERO_EXIT_CODE": "GPU {g} EUD process exited with non-zero exit code. Please check the logs. Exit code: 139",
    "EUD_TEST_FAILED": "GPU {g} EUD test failed: memory",
    "XID_ERROR": "Detected XID 95 for GPU {g}",
    "SXID_ERROR": "GPU {g}: Detected fatal NvSwitch SXID 20034",
    "SBE_VIOLATION": "Detected 12 ecc_sbe_volatile_total for GPU {g}",
    "DBE_VIOLATION": "Detected 12 ecc_dbe_volatile_total for GPU {g}",
    "PCIE_REPLAY_VIOLATION": "Detected 12 pcie_replay_counter for GPU {g}",
    "SBE_THRESHOLD_VIOLATION": "Detected 12 ecc_sbe_volatile_total for GPU {g} which is above the threshold 4",
    "DBE_THRESHOLD_VIOLATION": "Detected 12 ecc_dbe_volatile_total for GPU {g} which is above the threshold 4",
    "PCIE_REPLAY_THRESHOLD_VIOLATION": "Detected 90 pcie_replay_counter for GPU {g} which is above the threshold 80",
    "GFLOPS_THRESHOLD_VIOLATION": "Detected 41000.00 GFLOPs for GPU {g} which is below the threshold 52000.00",
    "SRAM_THRESHOLD": "SRAM threshold count exceeded on GPU {g}: 5",
    "NVLINK_EFFECTIVE_BER_THRESHOLD": "Detected Effective BER 1e-9 on GPU {g} NVLink 4 above 1e-12",
    "NVLINK_SYMBOL_BER_THRESHOLD": "Detected Symbol BER 1e-9 on GPU {g} NVLink 4 above 1e-12",
    "FALLEN_OFF_BUS": "GPU {g} has fallen off the bus",
    "GPU_RECOVERY_RESET": "GPU {g} requires a reset to recover from a fault. Recovery action: 1 (GPU_RESET).",
    "GPU_RECOVERY_REBOOT": "GPU {g} may have left the OS in an inconsistent state. Recovery action: 2 (NODE_REBOOT).",
    "GPU_RECOVERY_DRAIN_P2P": "GPU {g} requires peer-to-peer traffic to be quiesced. Recovery action: 3 (DRAIN_P2P).",
    "GPU_RECOVERY_DRAIN_RESET": "GPU {g} operating at reduced capacity due to a fault. Recovery action: 4 (DRAIN_AND_RESET).",
}  # fmt: skip

SPECIFIC = [error for error in dcgm.errors() if error.literal]


def test_every_specific_message_has_its_sample_here():
    assert {error.name for error in SPECIFIC} == set(MESSAGES)


def in_a_log(message: str) -> str:
    return f"Nov  3 09:12:44 n7 healthd[812]: {message}\n"


def in_an_event_row(message: str) -> str:
    return f"LAST SEEN   TYPE      REASON     OBJECT    MESSAGE\n12s         Warning   GpuWatch   node/n7   {message}\n"


def in_an_event(message: str) -> str:
    about = {"kind": "Node", "name": "n7"}
    event = {"kind": "Event", "apiVersion": "v1", "type": "Warning", "reason": "GpuWatch", "message": message}
    return json.dumps(event | {"involvedObject": about}, indent=1)


def in_a_diag(message: str) -> str:
    result = {
        "entity_group": "GPU",
        "entity_id": 3,
        "status": "Fail",
        "warnings": [{"warning": message, "error_id": 999}],
    }
    tests = [{"name": "memory", "results": [result]}]
    return json.dumps({"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}]}}, indent=1)


def in_a_report(message: str) -> str:
    places = [{"entityType": "GPU", "entityValue": "3"}]
    report = {"agent": "gpu-health-monitor", "isHealthy": False, "message": message, "entitiesImpacted": places}
    return json.dumps([report], indent=1)


FORMS = (in_a_log, in_an_event_row, in_an_event, in_a_diag, in_a_report)


@pytest.mark.parametrize("error", SPECIFIC, ids=lambda error: error.name)
def test_a_message_means_the_same_wherever_it_stands(error: DcgmError):
    fault = error.fault or "gpu.ecc.uncontained"
    for form in FORMS:
        text = form(MESSAGES[error.name].format(g=3))
        found = [one for one in diagnosis_of(text).findings if one.fault == fault]
        assert [(one.root, one.component in ("GPU 3", "NvSwitch 2")) for one in found] == [
            (error.role == "root", True)
        ], text
        assert found[0].line in [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("error", SPECIFIC, ids=lambda error: error.name)
def test_a_message_that_names_no_board_is_documentation(error: DcgmError):
    message = MESSAGES[error.name].format(g="%u").replace("NvSwitch 2", "NvSwitch %u").replace("GPU 5", "GPU %u")
    assert_quiet(in_a_log(message))


@pytest.mark.parametrize(
    "text",
    [
        "GPU 3: no row remappings are pending",
        "GPU 3 had 0 volatile double-bit ECC error(s)",
        "If GPU 3 had uncorrectable memory errors and row remapping failed, replace it",
        "looks whether a memory mismatch was detected on GPU 3, but no error was reported; check passed",
        "GPU 3 requires a reset to recover from a fault: resolved",
        "GPU 3 is running at PCI link generation 5",
        "GPU 3 device driver is currently down for maintenance",
    ],
)
def test_a_near_miss_is_silent(text: str):
    assert_quiet(in_a_log(text))
