"""Files that hold the output of several commands."""

import json

import pytest

from tests.engine.helpers import assert_finds, diagnosis_of, roots

XID = "[ 812.001234] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
SEL = "   1 | 12/01/2026 | 03:38:00 | Power Supply #0x63 | Failure detected | Asserted\n"


def test_a_bug_report_is_read_section_by_section():
    ruler = "_" * 44
    text = f"""{ruler}

Start of NVIDIA bug report log file.  Please include this file.
{ruler}

*** /proc/driver/nvidia/./version
*** ls: -r--r--r-- 1 root root 0 2026-12-01 03:38:00 /proc/driver/nvidia/./version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2026

{ruler}

/usr/bin/dmesg:

{XID}
{ruler}

End of NVIDIA bug report log file.
"""
    finding = assert_finds("gpu.off_bus", text)
    assert finding.line_number == text.splitlines().index(XID) + 1


def test_a_pasted_terminal_is_read_command_by_command_and_its_prompt_names_the_node():
    text = f"root@gpu-a17:~# dmesg | tail\n{XID}\nroot@gpu-a17:~# sudo ipmitool sel list\n{SEL}root@gpu-a17:~# \n"
    found = roots(diagnosis_of(text))
    assert {(one.fault, one.node) for one in found} == {("gpu.off_bus", "gpu-a17"), ("host.psu.failed", "gpu-a17")}
    assert {one.line_number for one in found} == {2, 4}


def test_headings_of_scripts_and_of_tail_cut_too():
    for heading in ("===== ipmitool sel list =====", "### ipmitool sel list", "+ ipmitool sel list", "==> sel.txt <=="):
        assert {one.fault for one in roots(diagnosis_of(f"=== dmesg ===\n{XID}\n\n{heading}\n{SEL}"))} == {
            "gpu.off_bus",
            "host.psu.failed",
        }, heading


def test_a_log_that_quotes_a_prompt_stays_one_log():
    text = f"Dec  1 03:37:59 n1 sudo[12]: root : COMMAND=/usr/bin/nvidia-smi -q\n{XID}\n"
    assert diagnosis_of(text).kind == "log"


ROWS = """    Remapped Rows
        Uncorrectable Error               : 4
        Pending                           : Yes
        Remapping Failure Occurred        : No
"""


@pytest.mark.parametrize("prefix", ["> ", ">> ", "{n:6}\t"])
def test_what_a_mail_or_a_pager_put_before_each_line_is_taken_off(prefix: str):
    quoted = "".join(prefix.format(n=n) + line for n, line in enumerate(ROWS.splitlines(keepends=True), 1))
    assert assert_finds("gpu.row_remap.pending", quoted).line_number == 3
    assert assert_finds("gpu.row_remap.pending", f"```text\n{quoted}```\n").line_number == 4


def test_two_looks_at_two_drives_do_not_settle_each_other():
    sick = "SMART overall-health self-assessment test result: FAILED!\n"
    well = "SMART overall-health self-assessment test result: PASSED\n"
    assert_finds("host.disk.failing", f"$ smartctl -H /dev/sda\n{sick}$ smartctl -H /dev/sdb\n{well}")


def test_one_entry_of_a_structured_logger_is_a_log_too():
    text = "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown"
    assert roots(diagnosis_of(json.dumps({"level": "error", "ts": 1771930692.5, "msg": text}))) == roots(
        diagnosis_of(json.dumps([{"level": "error", "ts": 1771930692.5, "msg": text}]))
    )
    assert roots(diagnosis_of(json.dumps({"level": "error", "ts": 1771930692.5, "msg": text})))
