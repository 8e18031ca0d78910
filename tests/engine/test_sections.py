"""Files that hold the output of several commands."""

import json
from dataclasses import replace
from itertools import islice

import pytest

from diagnostics.engine import looks as settling
from diagnostics.engine.judges import logs
from diagnostics.engine.judges.tally import Hit, Record, Tally
from diagnostics.engine.parsers import hosts, sections
from diagnostics.engine.types import EvidenceLine, Observation
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


FOLDED = "----------------\n{}\n----------------\n"


def test_what_many_hosts_printed_alike_is_judged_once_and_told_of_each(monkeypatch: pytest.MonkeyPatch):
    judged = []
    judge = logs.judge
    monkeypatch.setattr(logs, "judge", lambda *given, **named: judged.append(1) or judge(*given, **named))
    found = roots(diagnosis_of(FOLDED.format("gn-[001-512]") + XID + "\n"))
    assert ({one.fault for one in found}, len({one.node for one in found}), len(judged)) == ({"gpu.off_bus"}, 512, 1)


def test_a_file_of_too_many_sections_says_where_reading_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sections, "MOST", 3 * 16 << 10)
    found = diagnosis_of("".join(f"root@gn-{n}:~# dmesg\n{XID}\n" for n in range(1, 6)))
    assert {one.node for one in roots(found)} == {"gn-1", "gn-2", "gn-3"}
    assert "nothing was read from line 8 on" in found.could_not_check[-1].reason


def test_a_heading_that_unfolds_to_more_than_is_read_is_not_unfolded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sections, "MOST", 1 << 20)
    found = diagnosis_of(f"root@gn-1:~# dmesg\n{XID}\n" + FOLDED.format("gn-[001-512]") + XID + "\n")
    assert {one.node for one in roots(found)} == {"gn-1"}
    assert "too many sections" in found.could_not_check[-1].reason


def test_ranges_of_hosts_are_counted_no_further_than_they_may_go():
    assert hosts.expanded(f"gn-[{','.join(['1-999999'] * 30)}]") == []
    assert list(islice(hosts.expanded("gn-[1-999999999999]"), 1)) == []


STATES = {"sick": "        Pending : Yes\n", "well": "        Pending : No\n"}


def looks(count: int) -> str:
    """As many looks of one command, all but the last one sick."""
    said = ["sick"] * (count - 1) + ["well"]
    return "".join(
        f"root@gn-1:~# nvidia-smi -q\nGPU 00000000:1B:00.0\n    Remapped Rows\n{STATES[one]}" for one in said
    )


def test_the_last_look_of_a_command_settles_all_before_it():
    assert roots(diagnosis_of(looks(20))) == []


def test_settling_takes_one_step_for_each_section(monkeypatch: pytest.MonkeyPatch):
    counted = []
    families = settling._clean_families
    monkeypatch.setattr(settling, "_clean_families", lambda checks: counted.append(1) or families(checks))
    diagnosis_of(looks(50))
    assert len(counted) <= 2 * 50


def test_a_line_that_takes_back_without_a_part_does_its_work_once(monkeypatch: pytest.MonkeyPatch):
    taken = []
    monkeypatch.setattr(Record, "take_back", lambda record, cleared: taken.append(record))
    tally = Tally()
    seen = [Observation("fabric.link_down", EvidenceLine(1, "down"), "log", component=f"ib{n}") for n in range(100)]
    for one in seen:
        tally.add(Hit(one))
    for _ in range(100):
        tally.add(Hit(replace(seen[0], component=None), clears=("fabric.link_down",)))
    assert len(taken) == 100
