"""Lines that a collector put something before, and Xids that we cannot read."""

import pytest

from diagnostics.engine.diagnose import Part, diagnose

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def look(text):
    return diagnose([Part("log", text.encode())], path="log")


@pytest.mark.parametrize(
    "line",
    [
        f"2026-03-14T03:00:11.123456789Z stderr F [ 8211.102947] {XID}",
        f"2026-03-14T03:00:11.123456789Z stdout F Mar 14 03:00:11 gke-1 kernel: {XID}",
        f"2026-03-14T03:00:11.123456789Z stdout P {XID}",
        f'2026-03-14T02:41:07Z {{job="systemd-journal", host="gpu-a17"}} {XID}',
        f"2026-03-14T02:41:07.000Z\t2026-03-14T02:41:07 gpu-a17 kernel: {XID}",
        f"\x1b[32m[ 8211.102947] \x1b[0m\x1b[33mNVRM: \x1b[0m\x1b[31m{XID.removeprefix('NVRM: ')}\x1b[0m",
    ],
)
def test_a_line_is_read_through_what_a_collector_or_a_terminal_put_around_it(line):
    (finding,) = look(f"{line}\n").findings
    assert (finding.fault, finding.component) == ("gpu.off_bus", "0000:3b:00.0")


def test_the_own_time_of_a_wrapped_line_counts_before_that_of_the_collector():
    line = f"2026-03-14T05:00:00Z stdout F 2026-03-14T03:00:11+00:00 n1 kernel: {XID}\n"
    assert look(line).findings[0].first_at.hour == 3


def test_an_xid_in_a_form_that_is_not_read_is_no_clean_log():
    answer = look("2026-03-14T03:00:11+00:00 n1 kernel: NVRM: Xid (GPU at 3b): seventy-nine\n")
    assert answer.findings == ()
    (gap,) = answer.could_not_check
    assert "line 1 names an Xid" in gap.reason
    assert "gpu.presence" in gap.families


def test_an_xid_that_a_program_quotes_is_neither_finding_nor_gap():
    answer = look(f"2026-03-14T03:00:11+00:00 n1 agent[12]: seen earlier: {XID}\n")
    assert (answer.findings, answer.could_not_check) == ((), ())


def test_a_log_of_thousands_of_parts_is_folded_in_a_moment_and_stays_small():
    lines = (
        f"[{1000 + n / 100:12.6f}] NVRM: Xid (PCI:{n >> 13:04x}:{(n >> 5) & 255:02x}:{n & 31:02x}): {(79, 48, 74)[n % 3]}, pid=1\n"
        for n in range(6000)
    )
    answer = look("".join(lines))
    shown = len(answer.findings) + sum(len(finding.consequences) for finding in answer.findings)
    assert 0 < shown < 1000


def test_a_packed_file_inside_an_input_is_not_opened_and_says_what_to_do():
    answer = diagnose([Part("report.gz", b"\x1f\x8b\x08\x00" + bytes(range(256)))], path="x")
    assert "unpack it" in answer.could_not_check[0].reason
