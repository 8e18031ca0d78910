"""One line of a server, in the forms of several kernels and programs: the fault and the part that it names."""
# ruff: noqa: E501  (what is printed is long)

import pytest

from .helpers import assert_finds, assert_quiet

KERNEL = [
    (
        "EDAC MC2: 1 CE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x5c3a17 offset:0x9c0 grain:32 syndrome:0x0 -  err_code:0x0101:0x0091)",
        "host.memory.correctable",
        "CPU_SrcID#1_MC#0_Chan#1_DIMM#0",
    ),
    (
        "EDAC MC0: 12 CE on mc#0csrow#3channel#2 (csrow:3 channel:2 page:0x1f8 offset:0x40 grain:64 syndrome:0x1)",
        "host.memory.correctable_storm",
        "mc#0csrow#3channel#2",
    ),
    (
        "EDAC MC0: 1 CE memory scrubbing error on any memory ( page:0x0 offset:0x0 grain:-2147483648 syndrome:0x0)",
        "host.memory.correctable",
        "any memory",
    ),
    (
        'EDAC MC0: CE page 0x1a2, offset 0x8, grain 8, syndrome 0x51, row 1, channel 0, label "DIMM_B1": amd64_edac',
        "host.memory.correctable",
        "DIMM_B1",
    ),
    (
        'EDAC MC0: UE row 2, channel-a= 0 channel-b= 1 labels "DIMM_A1:DIMM_A2": NON-FATAL',
        "host.memory.uncorrectable",
        "DIMM_A1:DIMM_A2",
    ),
    ("mce: Uncorrected hardware memory error in user-access at 1c2f5c0040", "host.memory.uncorrectable", None),
    (
        "Memory failure: 0x1c2f5c: Sending SIGBUS to python3:8123 due to hardware memory corruption",
        "host.memory.uncorrectable",
        None,
    ),
    ("mce: [Hardware Error]: CPU 10: Machine Check Exception: 5 Bank 9: bd80000000100134", "host.cpu.mce", "CPU 10"),
    ("Kernel panic - not syncing: Timeout: Not all CPUs entered broadcast exception handler", "host.cpu.mce", None),
    ("pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0", "host.pcie.fatal", "0000:3b:00.0"),
    (
        "nvme 0000:81:00.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Data Link Layer, (Receiver ID)",
        "host.pcie.fatal",
        "0000:81:00.0",
    ),
    (
        "pcieport 0000:e2:01.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)",
        "host.pcie.fatal",
        "0000:e2:01.0",
    ),
    (
        "pcieport 0000:00:1c.0: AER: Multiple Correctable error message received from 0000:01:00.0",
        "host.pcie.correctable",
        "0000:01:00.0",
    ),
    ("pciehp 0000:5d:00.0:pcie004: Slot(12): Card not present", "host.pcie.link_down", "0000:5d:00.0"),
    ("pcieport 0000:5d:00.0: pciehp: Slot(12-1): Link Down", "host.pcie.link_down", "0000:5d:00.0"),
    (
        "igc 0000:81:00.0: Unable to change power state from D3cold to D0, device inaccessible",
        "host.pcie.link_down",
        "0000:81:00.0",
    ),
    ("nvme nvme2: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff", "host.disk.timeout", "nvme2"),
    (
        "nvme nvme2: I/O tag 322 (2142) opcode 0x2 (I/O Cmd) QID 3 timeout, aborting req_op:READ(0) size:131072",
        "host.disk.timeout",
        "nvme2",
    ),
    ("nvme nvme2: Device not ready; aborting initialisation, CSTS=0x0", "host.disk.timeout", "nvme2"),
    ("end_request: I/O error, dev sdb, sector 81920", "host.disk.io_error", "sdb"),
    (
        "critical medium error, dev sdc, sector 1953525 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
        "host.disk.io_error",
        "sdc",
    ),
    ("sd 0:0:3:0: [sdd] tag#11 Add. Sense: Unrecovered read error", "host.disk.io_error", "sdd"),
    ("ata3.00: disable device", "host.disk.timeout", "ata3"),
    ("ata7: reset failed, giving up", "host.disk.timeout", "ata7"),
    (
        "megaraid_sas 0000:18:00.0: 10240 (706533340s/0x0002/FATAL) - Unrecoverable medium error during recovery on PD 04(e0x20/s4)",
        "host.disk.failing",
        None,
    ),
    ("md/raid10:md2: Disk failure on sdf1, disabling device.", "host.disk.failing", "sdf1"),
    ("md/raid:md0: raid level 5 active with 3 out of 4 devices, algorithm 2", "host.disk.failing", "md0"),
    (
        'XFS (nvme1n1): metadata I/O error in "xfs_buf_ioend+0x1" at daddr 0x12 len 8 error 5',
        "host.fs.readonly",
        "nvme1n1",
    ),
    (
        "BTRFS: error (device sda3: state EA) in btrfs_finish_ordered_io:3319: errno=-5 IO failure",
        "host.fs.readonly",
        "sda3",
    ),
    (
        "WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended.",
        "host.fs.readonly",
        "tank",
    ),
    (
        "Oops: general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP NOPTI",
        "os.oops",
        None,
    ),
    ("Internal error: Oops: 0000000096000006 [#1] SMP", "os.oops", None),
    ("Internal error: synchronous external abort: 0000000096000410 [#1] SMP", "os.oops", None),
    ("kernel BUG at fs/xfs/xfs_trans.c:1021!", "os.oops", None),
    ("watchdog: BUG: soft lockup - CPU#71 stuck for 49s! [kworker/71:2:99012]", "os.soft_lockup", "CPU 71"),
    ("rcu: INFO: rcu_preempt self-detected stall on CPU", "os.soft_lockup", None),
    (
        "INFO: rcu_sched detected stalls on CPUs/tasks: { 3} (detected by 5, t=60002 jiffies, g=41, c=40, q=0)",
        "os.soft_lockup",
        None,
    ),
    ("watchdog: CPU 12 self-detected hard LOCKUP @ 0xc000000000012", "os.hard_lockup", "CPU 12"),
    ("INFO: task kworker/u256:3:8121 blocked for more than 122 seconds.", "os.hung_task", "kworker/u256:3"),
    ("INFO: task sshd:4411 blocked for more than 122 seconds.", "os.session_hang", "sshd"),
    (
        "Out of memory: Killed process 812 (python3) total-vm:99kB, anon-rss:88kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:9kB oom_score_adj:0",
        "os.oom_kill",
        None,
    ),
    ("Task in /docker/0123456789ab killed as a result of limit of /docker/0123456789ab", "container.oom_killed", None),
    ("Memory cgroup out of memory: Killed process 812 (python3) total-vm:99kB", "container.oom_killed", None),
    ("lnet: disagrees about version of symbol ib_create_cq", "os.driver_load_failed", "lnet"),
    ("mlx5_ib: Unknown symbol mlx5_core_query_rq (err -22)", "os.driver_load_failed", "mlx5_ib"),
    ("Loading of unsigned module is rejected", "os.driver_load_failed", None),
    ("nfs: server stor-3 not responding, timed out", "os.nfs_hang", "stor-3"),
    ("CIFS: VFS: \\\\stor-2 has not responded in 180 seconds. Reconnecting...", "os.nfs_hang", "stor-2"),
    (
        "LustreError: 167-0: fs1-MDT0000-mdc-ffff88: This client was evicted by fs1-MDT0000; in progress operations using this service will fail.",
        "os.nfs_hang",
        "fs1-MDT0000",
    ),
    ("libceph: mon0 (1)192.0.2.1:6789 session lost, hunting for new mon", "os.nfs_hang", "mon0"),
    ("nf_conntrack: nf_conntrack: table full, dropping packet", "os.conntrack_full", None),
    (
        "thermal thermal_zone0: critical temperature reached (115 C), shutting down",
        "host.temp.critical",
        "thermal_zone0",
    ),
    (
        "mce: CPU3: Package temperature above threshold, cpu clock throttled (total events = 42012)",
        "host.cpu.thermal",
        "CPU 3",
    ),
    (
        "clocksource: timekeeping watchdog on CPU12: Marking clocksource 'tsc' as unstable because the skew is too large:",
        "os.clock_unsynced",
        None,
    ),
    ("NMI: PCI system error (SERR) for reason a1 on CPU 0.", "host.board.fault", None),
]

PROGRAMS = [
    ("rasdaemon[812]: mc_event: 2026-02-01 01:02:03 +0000 1 Uncorrected error: memory read error on DIMM_C1 (mc: 1 location: 0:0 page: 0x1)", "host.memory.uncorrectable", "DIMM_C1"),
    ("smartd[812]: Device: /dev/sdb [SAT], FAILED SMART self-check. BACK UP DATA NOW!", "host.disk.failing", "sdb"),
    ("smartd[812]: Device: /dev/nvme2, Critical Warning (0x04): Reliability", "host.disk.failing", "nvme2"),
    ("mdadm[813]: DegradedArray event detected on md device /dev/md0", "host.disk.failing", "/dev/md0"),
    ("multipathd[814]: mpatha: remaining active paths: 0", "host.disk.timeout", "mpatha"),
    ("zed[815]: eid=12 class=statechange pool='tank' vdev=sdb1 vdev_state=FAULTED", "host.disk.failing", "sdb1"),
    ("chronyd[816]: Can't synchronise: no majority", "os.clock_unsynced", None),
    ("ntpd[816]: time correction of 4211 seconds exceeds sanity limit (1000); set clock manually to the correct UTC time.", "os.clock_unsynced", None),
    ("sshd[817]: pam_systemd(sshd:session): Failed to create session: Connection timed out", "os.session_hang", None),
    ("systemd-oomd[818]: Killed /user.slice/user-1000.slice due to memory used (98) / total (99) and swap used (8) / total (8) being more than 90.00%", "os.oom_kill", None),
    ("bash[819]: bash: fork: retry: Resource temporarily unavailable", "os.fd_exhausted", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "fault", "component"), KERNEL, ids=[f"{fault} {n}" for n, (_, fault, _) in enumerate(KERNEL)]
)
@pytest.mark.parametrize(
    "prefix", ["[ 8123.441201] ", "Feb  1 01:02:03 gn-7 kernel: ", "[Sun Feb  1 01:02:03 2026] ", "2026-02-01T01:02:03.123456+00:00 gn-7 kernel: [ 8123.441201] ", ""],
    ids=["dmesg", "syslog", "dmesg -T", "iso", "bare"],
)  # fmt: skip
def test_a_line_of_the_kernel(prefix: str, message: str, fault: str, component: str | None):
    assert assert_finds(fault, prefix + message).component == component


@pytest.mark.parametrize(
    ("message", "fault", "component"), PROGRAMS, ids=[f"{fault} {n}" for n, (_, fault, _) in enumerate(PROGRAMS)]
)
def test_a_line_of_a_program(message: str, fault: str, component: str | None):
    assert assert_finds(fault, f"Feb  1 01:02:03 gn-7 {message}").component == component


def test_a_single_corrected_error_of_a_link_is_no_alarm_but_many_are():
    line = "[ {}.1] pcieport 0000:64:01.0: AER: Corrected error received: 0000:65:00.0"
    assert_quiet(line.format(100))
    assert_finds("host.pcie.correctable", "\n".join(line.format(100 + n) for n in range(12)))


def test_a_clock_that_is_wrong_again_and_again():
    line = "Feb  1 0{}:00:00 gn-3 chronyd[700]: System clock wrong by 41.5 seconds"
    assert_quiet(line.format(1))
    assert_finds("os.clock_unsynced", "\n".join(line.format(n) for n in range(5)))


def test_one_bad_sector_is_one_finding():
    text = """\
[ 88.100007] ata3.00: error: { UNC }
[ 88.100010] sd 2:0:0:0: [sda] tag#6 Sense Key : Medium Error [current]
[ 88.100011] sd 2:0:0:0: [sda] tag#6 Add. Sense: Unrecovered read error - auto reallocate failed
[ 88.100012] blk_update_request: I/O error, dev sda, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0
"""
    assert assert_finds("host.disk.io_error", text).component == "sda"


def test_a_drive_that_lost_its_link_is_one_finding():
    text = """\
[ 90.100004] pcieport 0000:a0:03.0: pciehp: Slot(27): Link Down
[ 90.100006] nvme nvme3: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff
[ 90.100007] nvme 0000:a1:00.0: Unable to change power state from D3cold to D0, device inaccessible
[ 90.100009] I/O error, dev nvme3n1, sector 2048 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2
"""
    assert assert_finds("host.pcie.link_down", text).component == "0000:a0:03.0"
