import json
from datetime import UTC, datetime, timedelta

import pytest

from diagnostics.engine.diagnose import Part, diagnose, document

from .helpers import assert_finds, assert_quiet, diagnosis_of, followers, roots

SINCE = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_each_input_says_what_was_checked():
    (check,) = diagnosis_of("[ 1.000000] usb 1-1: new high-speed USB device\n").checked
    assert check.status == "clean"
    assert {"gpu.presence", "host.storage", "os.kernel"} <= set(check.families)


def test_a_check_that_found_something_is_not_clean():
    (check,) = diagnosis_of("[ 1.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, x\n").checked
    assert check.status == "findings"


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty"), (b" \n\n", "empty"), (b"\x00\x01\x02\x03" * 500, "not text"), (b'{"weather": "fine"}', "unknown kind"),
     (b"dear diary, nothing happened\n", "not recognised")],
)  # fmt: skip
def test_what_cannot_be_read_is_a_gap_and_no_silence(data: bytes, reason: str):
    found = diagnosis_of(data)
    assert (found.findings, found.checked, found.verdict.state) == ((), (), "could_not_check")
    assert reason in found.could_not_check[0].reason


def test_a_job_log_is_recognised_and_not_claimed_to_be_analysed():
    found = diagnosis_of("n1:77:99 [3] NCCL INFO Bootstrap : Using ib0\n")
    assert found.kind == "job-log"
    assert "not analysed" in found.could_not_check[0].reason


def line(stamp: str) -> str:
    return f"{stamp}NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"


@pytest.mark.parametrize(
    ("stamp", "is_kept"),
    [
        ("2026-03-01T11:59:00+00:00 n1 kernel: ", False),
        ("2026-03-01T12:01:00+00:00 n1 kernel: ", True),
        ("2026-03-01T19:59:00+08:00 n1 kernel: ", False),
        ("2026-03-01T20:01:00+08:00 n1 kernel: ", True),
        ("[Sat Feb 28 11:00:00 2026] ", False),
        ("[Sun Mar  1 11:59:00 2026] ", True),  # no zone: it may be later than it looks
        ("Feb 27 11:00:00 n1 kernel: ", False),  # no year: the nearest
        ("Mar  1 13:00:00 n1 kernel: ", True),
        ("[ 12.500000] ", True),  # no wall clock at all
        ("", True),
    ],
)
def test_evidence_from_before_the_repair_is_left_out_only_where_it_is_surely_older(stamp: str, is_kept: bool):
    found = diagnose([Part("dmesg", line(stamp).encode())], path="x", since=SINCE)
    assert bool(found.findings) == is_kept
    assert found.checked[0].status == ("findings" if is_kept else "clean")


def test_a_finding_keeps_its_own_times():
    stamps = [SINCE + timedelta(minutes=n) for n in (0, 3, 9)]
    finding = assert_finds("gpu.off_bus", "".join(line(f"{at.isoformat()} n1 kernel: ") for at in stamps))
    assert (finding.first_at, finding.last_at, finding.count, finding.node) == (stamps[0], stamps[2], 3, "n1")


def test_the_parts_of_a_bundle_are_judged_together():
    nvml = json.dumps(
        {"schema": "sickbay.nvml/1", "gpus": [{"index": 3, "pci": "00000000:5E:00.0", "lost": True, "errors": {}}]}
    )
    finding = assert_finds("gpu.off_bus", line("[ 9.000000] "), nvml)
    assert {evidence.number for evidence in finding.evidence} == {1}
    assert len(finding.evidence) == 2


def test_a_node_is_named_by_the_caller_where_the_evidence_names_none():
    (finding,) = diagnose([Part("dmesg", line("[ 9.000000] ").encode())], path="x", node="gn-7").findings
    assert finding.node == "gn-7"


def test_two_nodes_in_one_log_stay_apart():
    text = line("2026-03-01T12:01:00+00:00 n1 kernel: ") + line("2026-03-01T12:01:00+00:00 n2 kernel: ")
    assert [finding.node for finding in roots(diagnosis_of(text))] == ["n1", "n2"]


def test_the_verdict_is_the_worst_root():
    text = line("[ 9.000000] ") + "[ 10.000000] nf_conntrack: nf_conntrack: table full, dropping packet\n"
    verdict = diagnosis_of(text).verdict
    assert (verdict.state, verdict.fault, verdict.severity) == ("sick", "gpu.off_bus", "SEV2")


def test_the_document_is_plain_json_in_the_language_asked_for():
    made = document([diagnosis_of(line("[ 9.000000] "))], language="zh-hans")
    assert json.loads(json.dumps(made)) == made
    assert made["schema"] == "sickbay.findings/1"
    (finding,) = made["files"][0]["findings"]
    assert finding["title"] == "GPU 掉卡"
    assert {"fault", "root", "severity", "component", "rank", "ranks", "node", "title", "line", "line_number", "evidence",
            "confidence", "consequences", "action"} <= finding.keys()  # fmt: skip


def test_a_drive_that_times_out_explains_its_file_system():
    text = (
        "[ 100.100000] nvme nvme1: I/O 12 QID 4 timeout, aborting\n"
        "[ 130.100000] I/O error, dev nvme1n1, sector 8 op 0x1:(WRITE)\n"
        "[ 130.200000] EXT4-fs (nvme1n1p2): Remounting filesystem read-only\n"
    )
    assert sorted(followers(assert_finds("host.disk.timeout", text))) == ["host.disk.io_error", "host.fs.readonly"]


def test_another_drive_is_another_matter():
    text = "[ 100.100000] nvme nvme1: I/O 12 QID 4 timeout, aborting\n[ 130.100000] I/O error, dev sdb, sector 8\n"
    assert {finding.fault for finding in roots(diagnosis_of(text))} == {"host.disk.timeout", "host.disk.io_error"}


def test_a_link_that_flaps_is_no_link_that_is_down():
    down = "[ {0}.100000] mlx5_core 0000:29:00.0 ens9np0: Link down\n[ {0}.900000] mlx5_core 0000:29:00.0 ens9np0: Link up\n"
    assert_quiet(down.format(100))
    assert_finds("fabric.link_flap", "".join(down.format(100 + n) for n in range(4)))
    assert_finds("fabric.link_down", "[ 100.100000] mlx5_core 0000:29:00.0 ens9np0: Link down\n")


def test_a_file_server_that_came_back_is_a_note():
    lost = "[ 5.100000] nfs: server stor-3 not responding, still trying\n"
    assert_finds("os.nfs_hang", lost)
    assert_quiet(lost + "[ 25.100000] nfs: server stor-3 OK\n")
    assert_finds("os.nfs_hang", lost + "[ 25.100000] nfs: server stor-9 OK\n")


def test_many_corrected_errors_of_one_dimm_are_a_storm():
    edac = (
        "[ {}.100000] EDAC MC1: {} CE memory read error on CPU_SrcID#0_MC#1_Chan#0_DIMM#0 (channel:0 slot:0 page:0x1)\n"
    )
    assert_finds("host.memory.correctable", edac.format(5, 1))
    assert assert_finds("host.memory.correctable_storm", "".join(edac.format(n, 4) for n in range(5))).count == 20


def test_a_corrected_machine_check_is_a_note_and_an_uncorrected_one_is_not():
    check = "[ 99.100000] mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 1: {}\n"
    assert_quiet(check.format("9c00000000010134"))
    assert assert_finds("host.cpu.mce", check.format("be00000000010134")).component == "CPU 3"
    assert_finds("host.memory.uncorrectable", check.format("be00000000000091"))


def test_a_firmware_record_is_read_to_its_end_though_another_is_printed_into_it():
    text = (
        "[ 9.1] {7}[Hardware Error]: event severity: corrected\n"
        "[ 9.1] {8}[Hardware Error]: event severity: recoverable\n"
        "[ 9.1] {7}[Hardware Error]:   section_type: memory error\n"
        "[ 9.1] {8}[Hardware Error]:   section_type: PCIe error\n"
        "[ 9.1] {7}[Hardware Error]:   fru_text: B3\n"
        "[ 9.1] {8}[Hardware Error]:   device_id: 0000:41:00.0\n"
    )
    assert {(f.fault, f.component) for f in roots(diagnosis_of(text))} == {
        ("host.memory.correctable", "B3"),
        ("host.pcie.fatal", "0000:41:00.0"),
    }


def test_a_host_out_of_memory_is_no_container_at_its_limit():
    line = "[ 9.1] oom-kill:constraint={},nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/kubepods/x,task=py,pid=7,uid=0\n"
    assert_finds("os.oom_kill", line.format("CONSTRAINT_NONE"))
    assert_finds("container.oom_killed", line.format("CONSTRAINT_MEMCG"))


def test_old_evidence_is_told_with_its_time_and_raises_no_alarm():
    old = "2026-01-03T10:00:00+00:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
    new = "2026-03-01T10:00:00+00:00 n1 kernel: NVRM: Xid (PCI:0000:5e:00): 48, pid=1, DBE (double bit error).\n"
    answer = diagnose([Part("log", (old + new).encode())], path="log", live_since=datetime(2026, 2, 22, tzinfo=UTC))
    assert [(one.fault, one.root) for one in answer.findings] == [
        ("gpu.ecc.uncorrectable", True),
        ("gpu.off_bus", False),
    ]
    assert answer.findings[1].last_at.month == 1
