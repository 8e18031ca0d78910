import json

import pynvml
import pytest

from diagnostics.probes import disk, inventory, kernel_log, memory, nvml, table
from diagnostics.probes.base import Context, ProbeSpec, Result
from diagnostics.probes.transports.local import Local
from diagnostics.probes.transports.replay import Replay
from incidents.domain import faults
from tests.diagnostics.conftest import GIB, QUIET, XID_79, Recording


class Machine:
    """Answers commands by their first word."""

    is_here = False

    def __init__(self, **answers):
        self.answers = answers

    def run(self, command, *, deadline_seconds, max_bytes=0, newest=False):
        return self.answers.get(command[0], Result(None, problem=f"{command[0]}: No such file or directory"))


@pytest.fixture
def recorded(tmp_path):
    return Recording(tmp_path)


def context(recording):
    return Context(Replay(recording.folder))


def document(output):
    return json.loads(output.evidence[0].data)


def test_the_journal_is_preferred():
    output = kernel_log.read(Context(Machine(journalctl=Result(0, b"from the journal\n"), dmesg=Result(0, b"ring\n"))))
    assert output.evidence[0].data == b"from the journal\n"


@pytest.mark.parametrize(
    "journal", [Result(0, b""), Result(0, b"-- No entries --\n"), Result(1, b"", b"No journal files were found.")]
)
def test_without_a_journal_the_ring_buffer_is_read(journal):
    output = kernel_log.read(Context(Machine(journalctl=journal, dmesg=Result(0, QUIET.encode()))))
    assert output.evidence[0].data == QUIET.encode()


def test_a_forbidden_log_is_could_not_check_with_the_remedy():
    refusal = Result(1, b"", b"dmesg: read kernel buffer failed: Operation not permitted")
    output = kernel_log.read(Context(Machine(journalctl=Result(0, b""), dmesg=refusal)))
    assert output.status == "could_not_check"
    assert "not permitted" in output.reason
    assert "systemd-journal" in output.reason


def test_an_empty_log_says_nothing():
    output = kernel_log.read(Context(Machine(journalctl=Result(0, b""), dmesg=Result(0, b""))))
    assert (output.status, "empty" in output.reason) == ("could_not_check", True)


def test_a_machine_without_either_program_is_not_supported():
    assert kernel_log.read(Context(Machine())).status == "not_supported"


def test_disks_are_counted_once_and_by_their_own_numbers(recorded):
    recorded.write(
        "files/proc/self/mounts",
        "/dev/sda1 / ext4 ro 0 0\n/dev/sda1 /srv/my\\040data ext4 ro 0 0\nproc /proc proc rw 0 0\n",
    )
    rows = document(disk.read(context(recorded)))["filesystems"]
    assert [(row["mount"], row["read_only"], row["used"]) for row in rows] == [("/", True, 40 * GIB)]


def test_memory_is_read_with_its_dimms(recorded):
    recorded.write("files/sys/devices/system/edac/mc/mc0/dimm3/dimm_ce_count", "7\n")
    recorded.write("files/sys/devices/system/edac/mc/mc0/dimm3/dimm_ue_count", "0\n")
    recorded.write("files/sys/devices/system/edac/mc/mc0/dimm3/dimm_label", "CPU0_DIMM_C1\n")
    recorded.write("files/proc/pressure/memory", "some avg10=0.50 avg60=0.00 avg300=0.00 total=12\n")
    facts = document(memory.read(context(recorded)))
    assert facts["edac"] == [{"mc": "mc0", "dimm": "CPU0_DIMM_C1", "ce": 7, "ue": 0}]
    assert (facts["oom_kills"], facts["meminfo"]["MemTotal"]) == (0, 2113000000)
    assert facts["pressure"]["some"]["avg10"] == 0.5


def test_a_machine_without_proc_is_not_supported(tmp_path):
    for probe in (disk, memory):
        assert probe.read(Context(Replay(tmp_path))).status == "not_supported"


def test_this_machine_is_read_by_every_probe_without_a_failure():
    for spec in table.PROBES.values():
        output = table.run(spec, Context(Local()))
        assert not output.reason.startswith("The probe failed"), output.reason
        assert output.evidence or output.reason


def test_this_machine_knows_its_own_inventory():
    facts = inventory.read(Context(Local()))
    assert facts.hostname
    assert facts.facts["cpu"]["threads"] > 0
    assert facts.facts["memory_bytes"] > 0
    assert facts.facts["gpus"]


def test_a_mistake_in_a_probe_is_could_not_check():
    spec = ProbeSpec("x", "1", "X", (), 1.0, lambda context: 1 / 0)
    assert table.run(spec, Context(Local())).reason == "The probe failed: ZeroDivisionError: division by zero"


def test_every_plan_names_probes_that_there_are_and_every_probe_names_families_that_there_are():
    families = {fault.family for fault in faults.all_faults()}
    assert {name for plan in table.PLANS.values() for name in plan} <= set(table.PROBES)
    for spec in table.PROBES.values():
        assert set(spec.families) <= families
        assert spec.read_only


# --- NVML: the library is played, since no driver is here -------------------------------------------------------------------


def failure(number):
    return pynvml.NVMLError(number)


@pytest.fixture
def library(monkeypatch):
    """Replaces calls of the library by name: a value, or an error to raise."""

    def play(**calls):
        for name, value in calls.items():
            monkeypatch.setattr(pynvml, f"nvml{name}", _answering(value))

    return play


def _answering(value):
    def answer(*arguments):
        if isinstance(value, pynvml.NVMLError):
            raise value
        return value(*arguments) if callable(value) else value

    return answer


def lost(handle):
    if handle == 1:
        raise failure(pynvml.NVML_ERROR_GPU_IS_LOST)


def test_a_machine_with_no_driver_is_not_supported(library, monkeypatch):
    monkeypatch.setattr(nvml, "gpus_on_the_bus", lambda transport: ())
    library(Init=failure(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND))
    assert nvml.read(Context(Local())).status == "not_supported"


def test_gpus_without_a_driver_could_not_be_checked(library, monkeypatch):
    monkeypatch.setattr(nvml, "gpus_on_the_bus", lambda transport: ("0000:91:00.0",))
    library(Init=failure(pynvml.NVML_ERROR_DRIVER_NOT_LOADED))
    output = nvml.read(Context(Local()))
    assert (output.status, "0000:91:00.0" in output.reason) == ("could_not_check", True)


def test_a_lost_gpu_is_told_from_one_that_lacks_a_sensor(library, monkeypatch):
    monkeypatch.setattr(nvml, "gpus_on_the_bus", lambda transport: ())
    library(
        Init=None,
        Shutdown=None,
        SystemGetDriverVersion="580.1",
        DeviceGetCount=2,
        DeviceGetHandleByIndex=lambda index: index,
        DeviceGetUUID=lambda handle: lost(handle) or "GPU-a",
        DeviceGetTemperature=lambda handle, kind: lost(handle) or 41,
        DeviceGetTemperatureThreshold=failure(pynvml.NVML_ERROR_NOT_SUPPORTED),
        DeviceGetPowerUsage=failure(pynvml.NVML_ERROR_NO_PERMISSION),
    )
    facts = document(nvml.read(Context(Local(), expected_gpus=3)))
    well, gone = facts["gpus"]
    assert (facts["driver"], facts["expected_gpus"]) == ("580.1", 3)
    assert (well["lost"], well["uuid"], well["temperature_c"], well["slowdown_c"]) == (False, "GPU-a", 41, None)
    assert "slowdown_c" not in well["errors"]
    assert "power_w" in well["errors"]
    assert gone["lost"]


def test_gpus_on_the_bus_are_counted_without_a_driver(recorded):
    for address, vendor, kind in (
        ("0000:91:00.0", "0x10de", "0x030200"),
        ("0000:92:00.0", "0x10de", "0x068000"),
        ("0000:00:02.0", "0x8086", "0x030000"),
    ):
        recorded.write(f"files/sys/bus/pci/devices/{address}/vendor", f"{vendor}\n")
        recorded.write(f"files/sys/bus/pci/devices/{address}/class", f"{kind}\n")
    assert nvml.gpus_on_the_bus(Replay(recorded.folder)) == ("0000:91:00.0",)


def test_a_kernel_log_that_was_cut_is_kept_but_does_not_count_as_checked():
    journal = Result(0, b"2026-11-30T02:10:01+00:00 n1 kernel: usb 1-1: new device\n", is_cut=True)
    output = kernel_log.read(Context(Machine(journalctl=journal)))
    assert (output.status, len(output.evidence)) == ("could_not_check", 1)
    assert "oldest lines are missing" in output.reason


def test_of_a_kernel_log_that_is_too_long_the_newest_whole_lines_are_kept(recorded, monkeypatch):
    recorded.say_kernel(QUIET * 100 + XID_79)
    monkeypatch.setattr(kernel_log, "MAX_BYTES", 1000)
    output = kernel_log.read(context(recorded))
    (kept,) = output.evidence
    lines = kept.data.decode().splitlines(keepends=True)
    assert (output.status, lines[-1], len(kept.data) <= 1000) == ("could_not_check", XID_79, True)
    assert set(lines[:-1]) == set(QUIET.splitlines(keepends=True))


def test_the_ring_buffer_does_not_stand_in_for_a_journal_that_had_to_be_stopped():
    stopped = Result(None, QUIET.encode(), problem="it did not end in time and was stopped")
    output = kernel_log.read(Context(Machine(journalctl=stopped, dmesg=Result(0, QUIET.encode()))))
    assert (output.status, len(output.evidence)) == ("could_not_check", 1)
    assert "did not end in time" in output.reason
