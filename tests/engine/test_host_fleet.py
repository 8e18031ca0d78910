"""Texts of many hosts at once, settings against their profile, Slurm's reasons, logins, timers, tables of a script."""

import pytest

from diagnostics.engine.parsers import hosts

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots

UNIT = "irqbalance.service loaded failed failed irqbalance daemon"
DF = "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda2 100000000 100000000 0 100% /\n"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (f"gn-15: running\ngn-16: degraded\ngn-16: {UNIT}\ngn-17: running\n", 3),
        (f"gn-15: running\ngn-16: degraded\ngn-17: running\ngn-16: {UNIT}\n", 4),
        (f"192.0.2.15: running\n192.0.2.15: x\n192.0.2.16: degraded\n192.0.2.16: {UNIT}\n", 4),
        (f"gn-15 | CHANGED | rc=0 >>\nrunning\ngn-16 | FAILED | rc=1 >>\n{UNIT}\n", 4),
        (f"[1] 10:20:30 [SUCCESS] gn-15\nrunning\n[2] 10:20:31 [SUCCESS] gn-16\n{UNIT}\n", 4),
        (f"----------------\ngn-15\n----------------\nrunning\n----------------\ngn-16\n----------------\n{UNIT}\n", 8),
    ],
)
def test_each_host_is_judged_by_its_own_output(text: str, number: int):
    found = assert_finds("os.service_failed", text)
    assert found.node in ("gn-16", "192.0.2.16")
    assert (found.component, found.line_number) == ("irqbalance.service", number)


def test_output_that_is_alike_on_several_hosts_is_a_fault_of_each():
    text = f"----------------\ngn-[15-16]\n----------------\n{DF}"
    assert {(one.fault, one.node) for one in roots(diagnosis_of(text))} == {
        ("os.disk_full", "gn-15"),
        ("os.disk_full", "gn-16"),
    }


@pytest.mark.parametrize("text", ["nvme0: ok\nnvme1: ok\n", "Fan1: 1\nFan2: 2\n", "speed: 1\nduplex: full\n", ""])
def test_parts_and_keys_before_a_colon_are_no_hosts(text: str):
    assert hosts.by_prefix(text) == []


def test_lists_of_hosts():
    assert hosts.expanded("gn-[1-3,07],gx-1") == ["gn-1", "gn-2", "gn-3", "gn-07", "gx-1"]
    assert hosts.expanded("summary") == []


@pytest.mark.parametrize(
    "text",
    [
        "[FAIL] pcie-acs         ACS enabled on 4 of 16 downstream ports\n",
        "cpu governor (192 cpus)        performance | powersave     <-- differs\n",
        "changed: [gn-1] => (drift: live net.core.rmem_max=212992 want=67108864)\n",
        "vm.swappiness: expected 1, found 60\n",
        "transparent_hugepage   always    madvise    MISMATCH\n",
        '{"host": "gn-1", "items": [{"key": "limits.memlock", "want": "unlimited", "have": "65536"}]}',
        '{"vm.swappiness": {"expected": 1, "actual": 60}}',
        "libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes.\n",
        "Verification failed, current system settings differ from the preset profile.\n",
    ],
)
def test_a_setting_that_differs(text: str):
    assert_finds("os.config", text)


@pytest.mark.parametrize(
    "text",
    [
        "[PASS] pcie-acs         ACS disabled\n",
        "vm.swappiness: expected 1, found 1\n",
        '{"items": [{"key": "limits.memlock", "want": "unlimited", "have": "65536", "accepted": true}]}',
        '{"items": [{"key": "colour", "want": "red", "have": "blue"}]}',
        "FAILED tests/test_limits.py::test_x - assert 1 == 2\n",
        '{"node": "gn-1", "checks": [{"name": "ping", "ok": true}, {"name": "ssh_shell", "ok": true}]}',
    ],
)
def test_settings_as_they_should_be(text: str):
    assert_quiet(text)


def test_a_node_that_answers_but_gives_no_shell():
    text = '{"node": "gn-1", "checks": [{"name": "ping", "ok": true}, {"name": "ssh_shell", "ok": false, "error": "no prompt"}]}'
    assert assert_finds("os.session_hang", text).node == "gn-1"
    silent = '{"node": "gn-1", "checks": [{"name": "ping", "ok": false}, {"name": "ssh_shell", "ok": false}]}'
    assert_finds("host.unreachable", silent)


TRACE = "debug1: Connecting to gn-1 [192.0.2.1] port 22.\ndebug1: Entering interactive session.\ndebug1: Sending environment.\n"


def test_a_login_that_gets_no_session():
    assert assert_finds("os.session_hang", TRACE + "\nreal\t1m30.004s\n").node == "gn-1"
    assert_finds("os.session_hang", TRACE + "Terminated\n")
    for end in ("", "\nreal\t0m2.1s\n", "debug1: Exit status 0\n\nreal\t5m2.1s\n"):
        assert_quiet(TRACE + end)


NODE = "NodeName=gn-1 Arch=x86_64 CPUTot=224\n   State={} ThreadsPerCore=2\n   Reason={} [slurm@2026-11-09T17:43:02]\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (NODE.format("DOWN", "Node unexpectedly rebooted"), "host.reboot_unexpected"),
        (NODE.format("IDLE+DRAIN", "Kill task failed"), "os.hung_task"),
        (
            "REASON               USER      TIMESTAMP           NODELIST\nNot responding       slurm     2026-11-09T17:43:02 gn-1\n",
            "host.unreachable",
        ),
        (
            "REASON               USER      TIMESTAMP           NODELIST\ngres/gpu count repor slurm     2026-11-09T17:43:02 gn-1\n",
            "gpu.count_mismatch",
        ),
        (
            "REASON                                  NODELIST\nNot responding                          gn-1\n",
            "host.unreachable",
        ),
    ],
)
def test_a_reason_of_slurm(text: str, fault: str):
    assert assert_finds(fault, text).node == "gn-1"


REASONS = {
    "NHC: check_hw_ib:  No IB port mlx5_2:1 is ACTIVE (LinkUp 400 Gb/sec)": ("fabric.link_down", "mlx5_2"),
    "GPU 3 fell off the PCIe bus": ("gpu.off_bus", "GPU 3"),
    "gpu5 uncorrectable ECC, RMA 112233": ("gpu.ecc.uncorrectable", "GPU 5"),
    "GPU requires reset": ("gpu.lost", None),
    "row remap pending GPU#1": ("gpu.row_remap.pending", "GPU 1"),
    "fabricmanager not running": ("gpu.fabric_manager", None),
    "lustre hang, see ticket": ("os.nfs_hang", None),
    "NHC: check_fs_mount:  /scratch not mounted": ("container.mount_failed", None),
    "nvme0n1 SMART predictive failure": ("host.disk.failing", "nvme0n1"),
    "PSU 2 lost input": ("host.psu.failed", None),
    "DIMM A3 uncorrectable": ("host.memory.uncorrectable", None),
    "IB link flapping on mlx5_0": ("fabric.link_flap", "mlx5_0"),
    "kernel panic overnight": ("os.kernel_panic", None),
    "nvidia-smi hangs": ("gpu.driver.not_loaded", None),
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_in_the_words_of_a_check_or_of_a_person(reason: str):
    fault, part = REASONS[reason]
    assert assert_finds(fault, NODE.format("IDLE+DRAIN", reason)).component == part


@pytest.mark.parametrize(
    "reason",
    [
        "maintenance window",
        "PSU replaced, retest",
        "upgrading to driver 570",
        "reserved for GPU acceptance",
        "new node, burn-in",
        "fan fixed",
    ],
)
def test_what_an_operator_wrote_of_work_is_no_fault(reason: str):
    assert_quiet(NODE.format("IDLE+DRAIN", reason))


def test_a_node_in_use_has_no_fault_for_an_old_reason():
    assert_quiet(NODE.format("IDLE", "Not responding"))


LAST = "reboot   system boot  6.8.0 Wed Nov 11 06:31   still running\n{}reboot   system boot  6.8.0 Mon Oct 12 08:00 - 06:31\n"


def test_sessions_that_ended_in_a_crash():
    crash = "ops      pts/0        192.0.2.9 Tue Nov 10 19:02 - crash  (11:28)\n"
    assert_finds("host.reboot_unexpected", LAST.format(crash))
    assert_quiet(LAST.format("shutdown system down  6.8.0 Wed Nov 11 06:29 - 06:31  (00:02)\n" + crash))
    assert_quiet(LAST.format("") + crash)


STATUS = "× report.service - Nightly report\n     Active: failed (Result: timeout) since Wed\n{}    Process: 1 ExecStart=/x\n"


def test_a_service_that_a_timer_starts():
    assert_finds("os.timer_failed", STATUS.format("TriggeredBy: ● report.timer\n"))
    assert_finds("os.service_failed", STATUS.format(""))
    assert_finds("os.timer_failed", '[{"timer": "a.timer", "service": "a.service", "Result": "exit-code"}]')
    assert_quiet('[{"timer": "a.timer", "service": "a.service", "Result": "success"}]')


FAILED = "Mar 11 04:34:4{} n1 systemd[1]: purge.service: Failed with result 'exit-code'.\n"
ADDED = "Mar 11 04:34:4{} n1 systemd[1]: purge.timer: Adding 41min 2.022110s random time.\n"


def test_a_log_that_tells_of_the_timer():
    assert_finds("os.timer_failed", FAILED.format(1) + ADDED.format(2))
    assert_finds("os.timer_failed", ADDED.format(1) + FAILED.format(2))
    assert_finds("os.service_failed", FAILED.format(1))


def test_file_systems_in_a_table_of_a_script():
    head = "host,filesystem,size_bytes,used_bytes,avail_bytes,use_pct,inode_use_pct,mount\n"
    row = "gn-2,/dev/md126,959656755200,{},{},{},7,/\n"
    found = assert_finds("os.disk_full", head + row.format(959656751104, 0, 100))
    assert (found.node, found.component) == ("gn-2", "/")
    assert_quiet(head + row.format(412019302400, 498700288000, 46))


COUNT = "# TYPE node_nf_conntrack_entries gauge\nnode_nf_conntrack_entries {}\nnode_nf_conntrack_entries_limit 262144\n"


def test_a_table_of_the_kernel_that_is_full_by_its_metrics():
    assert_finds("os.conntrack_full", COUNT.format(262144))
    assert_quiet(COUNT.format(8123))


def test_a_console_over_the_network_is_the_kernel_of_its_sender():
    text = "2026-03-11 04:12:33 192.0.2.44:6665 <0>[812314.220113] Kernel panic - not syncing: Attempted to kill the idle task!\n"
    assert assert_finds("os.kernel_panic", text).node == "192.0.2.44"


def test_what_kubectl_quotes_of_the_kernel_of_a_node():
    text = "14s   Warning   ConntrackFull   node/gn-3   nf_conntrack: nf_conntrack: table full, dropping packet\n"
    assert assert_finds("os.conntrack_full", text).node == "gn-3"


JOURNAL = "Nov 10 00:05:34 n1 systemd-journald[812]: File /var/log/journal/7c/system.journal corrupted or uncleanly shut down, renaming.\n"
RECOVERED = "Nov 10 00:05:32 n1 kernel: EXT4-fs (nvme0n1p2): recovery complete\n"


def test_a_start_that_nobody_had_prepared():
    assert_finds("host.reboot_unexpected", RECOVERED + JOURNAL)
    assert_finds("host.reboot_unexpected", JOURNAL + RECOVERED)
    for alone in (JOURNAL, RECOVERED * 3):
        assert_quiet(alone)
