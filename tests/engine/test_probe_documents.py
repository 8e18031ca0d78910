import json
from typing import Any

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots


def gpu(**changes: Any) -> dict[str, Any]:
    return {
        "index": 0, "uuid": "GPU-00000000-0000-4000-8000-0000000000aa", "serial": "1", "pci": "00000000:5E:00.0", "name": "H100",
        "lost": False, "errors": {}, "temperature_c": 41, "slowdown_c": 90, "shutdown_c": 95,
        "ecc": {"volatile": {"corrected": 0, "uncorrected": 0}, "aggregate": {"corrected": 3, "uncorrected": 0}},
        "remapped": {"correctable": 0, "uncorrectable": 0, "pending": False, "failed": False}, "clocks_event_reasons": 1,
        "pcie": {"gen": 1, "gen_max": 5, "width": 16, "width_max": 16, "replay": 0}, "power_w": 71.0, "power_limit_w": 700.0,
        "recovery_action": 0, "mig": {"current": 0, "pending": 0}, "nvlinks": [{"link": n, "active": True} for n in range(18)],
        **changes,
    }  # fmt: skip


def nvml(*gpus: dict[str, Any], expected: int | None = None, indent: int | None = 1) -> str:
    return json.dumps(
        {"schema": "sickbay.nvml/1", "driver": "570.1", "expected_gpus": expected, "gpus": list(gpus)}, indent=indent
    )


def test_an_idle_well_gpu_is_quiet():
    found = assert_quiet(nvml(gpu(), expected=1))
    assert found.findings == ()
    assert {"gpu.presence", "gpu.memory"} <= set(found.checked[0].families)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"lost": True}, "gpu.off_bus"),
        ({"lost": True, "errors": {"name": "GPU requires reset"}}, "gpu.lost"),
        ({"temperature_c": 91}, "gpu.thermal.slowdown"),
        ({"temperature_c": 96}, "gpu.thermal.shutdown"),
        ({"clocks_event_reasons": 0x40}, "gpu.thermal.slowdown"),
        ({"clocks_event_reasons": 0x88}, "gpu.power.brake"),
        ({"ecc": {"volatile": {"corrected": 0, "uncorrected": 2}}}, "gpu.ecc.uncorrectable"),
        ({"remapped": {"pending": True, "failed": False}}, "gpu.row_remap.pending"),
        ({"remapped": {"pending": True, "failed": True}}, "gpu.row_remap.failed"),
        ({"recovery_action": 2}, "gpu.reset_required"),
        ({"mig": {"current": 0, "pending": 1}}, "gpu.mig.misconfigured"),
        ({"nvlinks": [{"link": 0, "active": True}, {"link": 1, "active": False}]}, "gpu.nvlink.error"),
    ],
)
def test_a_sick_gpu_is_named(changes: dict[str, Any], fault: str):
    finding = assert_finds(fault, nvml(gpu(index=1, uuid="GPU-1", pci="00000000:1B:00.0"), gpu(**changes)))
    assert finding.component == "0000:5e:00.0"
    assert finding.line


@pytest.mark.parametrize(
    "changes",
    [
        {"clocks_event_reasons": 0x7},
        {"pcie": {"gen": 1, "gen_max": 5, "width": 8, "width_max": 16, "replay": 0}},
        {"nvlinks": [{"link": n, "active": False} for n in range(4)]},
        {"ecc": {"volatile": {"corrected": 9, "uncorrected": 0}, "aggregate": {"corrected": 9, "uncorrected": 4}}},
        {"recovery_action": None, "mig": {"current": None, "pending": None}},
        {"remapped": {"correctable": 2, "uncorrectable": 1, "pending": False, "failed": False}},
    ],
)
def test_what_is_normal_is_quiet(changes: dict[str, Any]):
    assert_quiet(nvml(gpu(**changes)))


def test_the_line_is_that_of_the_sick_gpu():
    text = nvml(gpu(index=1, uuid="GPU-1"), gpu(uuid="GPU-2", remapped={"pending": True}))
    finding = assert_finds("gpu.row_remap.pending", text)
    assert finding.line == '"pending": true'
    assert "GPU-2" in "\n".join(text.splitlines()[: finding.line_number])


def test_gpus_that_are_not_there_are_counted():
    assert_finds("gpu.count_mismatch", nvml(gpu(), expected=8))


def test_what_nvml_would_not_tell_is_a_gap_of_that_family():
    found = diagnosis_of(nvml(gpu(ecc=None, errors={"ecc": "Unknown Error"})))
    assert "gpu.memory" not in found.checked[0].families
    assert [(gap.families, gap.reason) for gap in found.could_not_check] == [(("gpu.memory",), "Unknown Error")]


def test_what_a_board_does_not_have_is_no_gap():
    assert not diagnosis_of(nvml(gpu(nvlinks=[], errors={"nvlinks": "Not Supported"}))).could_not_check


GIB = 2**30


def disk(**changes: Any) -> str:
    row = {"mount": "/data", "device": "/dev/nvme1n1", "type": "xfs", "size": 1000 * GIB, "used": 500 * GIB, "available": 500 * GIB,
           "inodes": 1000, "inodes_used": 10, "read_only": False}  # fmt: skip
    return json.dumps(
        {"schema": "sickbay.disk/1", "filesystems": [row | changes], "expected_writable": ["/data"]}, indent=1
    )


def test_a_full_file_system_is_named_with_its_mount():
    finding = assert_finds("os.disk_full", disk(used=980 * GIB, available=20 * GIB))
    assert (finding.component, finding.detail) == ("/data", "98% used, 20.0 GiB left")
    assert_finds("os.disk_full", disk(inodes_used=990))


def test_a_file_system_that_should_be_writable_and_is_not_is_named():
    assert_finds("host.fs.readonly", disk(read_only=True))


@pytest.mark.parametrize(
    "changes",
    [{}, {"used": 900 * GIB, "available": 100 * GIB}, {"type": "squashfs", "mount": "/snap/x", "used": 10, "available": 0},
     {"mount": "/media", "read_only": True, "used": 1000 * GIB, "available": 0}, {"inodes": 0, "inodes_used": 0},
     {"mount": "/boot/efi", "size": GIB // 2, "used": GIB // 10, "available": GIB // 3}],
)  # fmt: skip
def test_file_systems_that_are_well_are_quiet(changes: dict[str, Any]):
    assert_quiet(disk(**changes))


def memory(**changes: Any) -> str:
    value = {
        "schema": "sickbay.memory/1",
        "meminfo": {"MemTotal": 1000, "MemAvailable": 600},
        "oom_kills": 0,
        "edac": [],
        "pressure": {},
    }
    return json.dumps(value | changes, indent=1)


def test_memory_errors_are_counted_by_dimm():
    rows = [
        {"mc": "mc0", "dimm": "A1", "ce": 0, "ue": 0},
        {"mc": "mc0", "dimm": "A2", "ce": 44, "ue": 0},
        {"mc": "mc1", "dimm": "B1", "ce": 0, "ue": 1},
    ]
    found = {(finding.fault, finding.component, finding.count) for finding in roots(diagnosis_of(memory(edac=rows)))}
    assert found == {("host.memory.correctable_storm", "A2", 44), ("host.memory.uncorrectable", "B1", 1)}


def test_memory_that_is_well_is_quiet():
    assert_quiet(memory())
    assert_quiet(memory(oom_kills=3))
