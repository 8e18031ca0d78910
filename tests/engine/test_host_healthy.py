"""Healthy boots and days of many boards and distributions: none may raise an alarm."""
# ruff: noqa: E501  (what is printed is long)

import pytest

from .helpers import assert_quiet

INTEL_DELL = """\
[    0.000000] DMI: Dell Inc. PowerEdge XE9680/0RT8Y7, BIOS 2.3.6 07/03/2024
[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009ffff] usable
[    0.004000] tsc: Detected 2000.000 MHz processor
[    0.010000] ACPI BIOS Error (bug): Could not resolve symbol [\\_SB.PC00.RP01.PXSX], AE_NOT_FOUND (20240322/dswload2-162)
[    0.010100] ACPI Error: AE_NOT_FOUND, During name lookup/catalog (20240322/psobject-220)
[    0.020000] x86/split lock detection: #AC: crashing the kernel on kernel split_locks and warning on user-space split_locks
[    0.021000] mce: CPU supports 20 MCE banks
[    0.022000] CPU0: Thermal monitoring enabled (TM1)
[    0.100000] rcu: Hierarchical RCU implementation.
[    0.200000] DMAR: IOMMU enabled
[    0.201000] DMAR: DRHD base: 0x000000ae7fc000 flags: 0x0
[    0.202000] DMAR: [Firmware Bug]: RMRR entry for device 1a:00.0 is broken - applying workaround
[    0.203000] DMAR-IR: Enabled IRQ remapping in x2apic mode
[    0.300000] smpboot: Allowing 224 CPUs, 0 hotplug CPUs
[    0.310000] HEST: Table parsing has been initialized.
[    0.311000] GHES: APEI firmware first mode is enabled by APEI bit and WHEA _OSC.
[    0.312000] ERST: Error Record Serialization Table (ERST) support is initialized.
[    0.320000] pcieport 0000:15:01.0: pciehp: Slot #21 AttnBtn- PwrCtrl- MRL- AttnInd- PwrInd- HotPlug+ Surprise+ Interlock- NoCompl+ IbPresDis- LLActRep+
[    0.321000] pcieport 0000:15:01.0: DPC: enabled with IRQ 35
[    0.322000] pcieport 0000:15:01.0: bandwidth check: link at 2.5 GT/s
[    0.330000] pci 0000:19:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x4 link at 0000:15:01.0 (capable of 126.016 Gb/s with 32.0 GT/s PCIe x4 link)
[    0.340000] pci 0000:3b:00.0: [10de:2330] type 00 class 0x030200 PCIe Endpoint
[    0.341000] pci 0000:3b:00.0: BAR 5 [io  size 0x0080]: can't assign; no space
[    0.342000] pci 0000:17:00.1: VF BAR 0 [mem size 0x00100000 64bit pref]: failed to assign
[    0.400000] NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.
[    0.500000] iTCO_wdt iTCO_wdt: initialized. heartbeat=30 sec (nowayout=0)
[    0.510000] ipmi_si IPI0001:00: IPMI kcs interface initialized
[    0.600000] EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0: DEV 0000:7e:0c.0 (INTERRUPT)
[    0.601000] EDAC i10nm: v0.0.6
[    0.602000] EDAC MC: Ver: 3.0.0
[    0.700000] megaraid_sas 0000:18:00.0: FW now in Ready state
[    0.701000] megaraid_sas 0000:18:00.0: FW supports sync cache	: Yes
[    0.702000] megaraid_sas 0000:18:00.0: 812 (boot + 4s/0x0020/INFO) - Controller hardware revision ID (0x0)
[    0.800000] mpi3mr0: fault_flag(0x0)
[    1.000000] ata5: SATA link down (SStatus 0 SControl 300)
[    1.001000] ata6.00: supports DRM functions and may not be fully accessible
[    1.002000] ata6.00: failed to enable AA (error_mask=0x1)
[    1.100000] scsi 0:2:0:0: Direct-Access     DELL     PERC H755 Front  5.16 PQ: 0 ANSI: 5
[    1.101000] sd 0:2:0:0: [sda] Asking for cache data failed
[    1.102000] sd 0:2:0:0: [sda] Assuming drive cache: write through
[    1.103000] sd 0:2:0:0: [sda] Sense Key : Illegal Request [current]
[    1.200000] nvme nvme0: Shutdown timeout set to 10 seconds
[    1.201000] nvme nvme0: missing or invalid SUBNQN field.
[    1.202000] nvme0: Admin Cmd(0x6), I/O Error (sct 0x0 / sc 0x2) DNR
[    1.203000] nvme1n1: Write Zeroes(0x8), 8 blocks, I/O Error (sct 0x0 / sc 0x2) DNR
[    1.204000] blk_update_request: operation not supported error, dev nvme1n1, sector 2048 op 0x9:(WRITE_ZEROES) flags 0x8000000 phys_seg 0 prio class 0
[    1.300000] md/raid1:md0: active with 2 out of 2 mirrors
[    1.301000] md0: detected capacity change from 0 to 1873281024
[    1.400000] XFS (dm-0): Mounting V5 Filesystem 0123
[    1.401000] XFS (dm-0): Starting recovery (logdev: internal)
[    1.402000] XFS (dm-0): Ending recovery (logdev: internal)
[    1.500000] EXT4-fs (md0): recovery complete
[    1.600000] FAT-fs (nvme0n1p1): Volume was not properly unmounted. Some data may be corrupt. Please run fsck.
[    2.000000] mlx5_core 0000:17:00.0: 252.048 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x8 link)
[    2.100000] nvidia: module verification failed: signature and/or required key missing - tainting kernel
[    2.200000] systemd[1]: systemd-journald.service: Deactivated successfully.
[    2.300000] systemd-journald[812]: File /var/log/journal/0123/user-1000.journal corrupted or uncleanly shut down, renaming and replacing.
[    3.000000] clocksource: Switched to clocksource tsc
[   10.000000] TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:22. Sending cookies.
[   11.000000] mce: CPU14: Core temperature above threshold, cpu clock throttled (total events = 3)
[   11.001000] mce: CPU14: Core temperature/speed normal
[   12.000000] CPU0: Core power limit notification (total events = 1)
[   13.000000] workqueue: delayed_fput hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
[   14.000000] sched: RT throttling activated
[   15.000000] perf: interrupt took too long (2512 > 2500), lowering kernel.perf_event_max_sample_rate to 79000
[   16.000000] systemd-logind[900]: Power key pressed short.
[   17.000000] NFS: Registering the id_resolver key type
[   18.000000] Key type dns_resolver registered
"""

AMD_SUPERMICRO = """\
[    0.000000] DMI: Supermicro AS -8125GS-TNHR/H13DSG-O-CPU, BIOS 1.8 04/24/2024
[    0.000000] tsc: Fast TSC calibration using PIT
[    0.003000] mce: [Firmware Bug]: Ignoring request to disable invalid MSR
[    0.100000] AMD-Vi: Interrupt remapping enabled
[    0.101000] AMD-Vi: Extended features (0x246577efa2254afa, 0x0): PPR NX GT IA GA PC
[    0.200000] MCE: In-kernel MCE decoding enabled.
[    0.300000] EDAC MC0: Giving out device to module amd64_edac controller F19h_M10h: DEV 0000:00:18.3 (INTERRUPT)
[    0.301000] EDAC amd64: MC: 0: 65536MB 1:     0MB
[    0.302000] EDAC amd64: F19h_M10h detected (node 0).
[    0.400000] microcode: Current revision: 0x0a101148
[    0.500000] pci 0000:c1:00.0: AER: can not allocate
[    0.501000] pcieport 0000:c0:01.1: AER: enabled with IRQ 43
[    0.502000] pcieport 0000:c0:01.1: Refused to change power state from D0 to D3hot
[    0.600000] ccp 0000:01:00.5: enabling device (0000 -> 0002)
[    0.601000] ccp 0000:01:00.5: sev command 0x4 timed out, disabling PSP
[    0.700000] ipmi_ssif: Unable to clear message flags
[    0.800000] hpet_acpi_add: no address or irqs in _CRS
[    0.900000] mpt3sas_cm0: log_info(0x3112010c): originator(PL), code(0x12), sub_code(0x010c)
[    0.901000] mpt3sas_cm0: sending port enable !!
[    1.000000] nvme nvme3: allocated 64 MiB host memory buffer.
[    1.100000] BTRFS info (device nvme0n1p2): bdev /dev/nvme0n1p2 errs: wr 0, rd 0, flush 0, corrupt 2, gen 0
[    1.200000] ZFS: Loaded module v2.2.2-0ubuntu9, ZFS pool version 5000, ZFS filesystem version 5
[    1.300000] overlayfs: upper fs does not support RENAME_WHITEOUT.
[    1.400000] loop0: detected capacity change from 0 to 131072
[    1.500000] Buffer I/O error on dev sr0, logical block 0, async page read
[    1.600000] amd_pstate: driver load is disabled, boot with specific mode to enable this
[    1.700000] tsc: Marking TSC unstable due to clocksource watchdog
[    2.000000] Loading iSCSI transport class v2.0-870.
[    2.100000] device-mapper: multipath: 253:3: Reinstating path 8:16.
[    3.000000] Lustre: Lustre: Build Version: 2.15.4
[    3.100000] Lustre: Mounted fs1-client
[    3.200000] LNet: Added LNI 192.0.2.9@o2ib [8/256/0/180]
[    4.000000] ceph: loaded (mds proto 32)
[    4.100000] libceph: mon0 (1)192.0.2.1:6789 session established
[   90.00000] kauditd_printk_skb: 22 callbacks suppressed
[   91.00000] python3[9001]: segfault at 0 ip 00007f2b sp 00007ffd error 4 in libcuda.so.1[7f20+1000]
[   92.00000] Adding 8388604k swap on /swap.img.  Priority:-2 extents:12 across:9437180k
"""

GRACE = """\
[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd4f0]
[    0.000000] DMI: NVIDIA GB200 NVL/P3809-BMC, BIOS 01.03.00 20241107
[    0.010000] CPU features: detected: RAS Extension Support
[    0.020000] GICv3: CPU0: found redistributor 0 region 0:0x0000000022080000
[    0.100000] arm-smmu-v3 arm-smmu-v3.11.auto: option mask 0x10
[    0.101000] arm-smmu-v3 arm-smmu-v3.11.auto: msi_domain absent - falling back to wired irqs
[    0.200000] GHES: APEI firmware first mode is enabled by APEI bit.
[    0.201000] EDAC MC0: Giving out device to module ghes_edac.c controller ghes_edac: DEV ghes (INTERRUPT)
[    0.202000] ACPI CPPC: PCC check channel failed for ss: 0. ret=-110
[    0.300000] watchdog: Delayed init of the lockup detector failed: -19
[    0.400000] thermal_sys: Registered thermal governor 'power_allocator'
[    0.500000] SBSA GWDT: sbsa-gwdt.0: Initialized with 10s timeout @ 1000000000 Hz, action=0.
[    1.000000] pcieport 0008:00:00.0: PME: Signaling with IRQ 200
[    1.100000] nvidia 0008:01:00.0: enabling device (0000 -> 0002)
"""

DAY = """\
Feb  1 00:00:01 gn-3 systemd[1]: logrotate.service: Deactivated successfully.
Feb  1 00:00:02 gn-3 rsyslogd: [origin software="rsyslogd" swVersion="8.2312.0"] rsyslogd was HUPed
Feb  1 00:05:01 gn-3 CRON[811]: pam_unix(cron:session): session opened for user root(uid=0) by root(uid=0)
Feb  1 00:05:01 gn-3 CRON[812]: (root) CMD (command -v debian-sa1 > /dev/null && debian-sa1 1 1)
Feb  1 00:06:00 gn-3 sshd[900]: fatal: Timeout before authentication for 203.0.113.9 port 40012
Feb  1 00:06:01 gn-3 sshd[901]: error: kex_exchange_identification: Connection closed by remote host
Feb  1 00:06:02 gn-3 sshd[902]: error: beginning MaxStartups throttling
Feb  1 00:06:03 gn-3 sshd[903]: pam_systemd(sshd:session): Failed to create session: No such process
Feb  1 00:07:00 gn-3 chronyd[700]: System clock wrong by 1.221341 seconds
Feb  1 00:07:01 gn-3 chronyd[700]: System clock was stepped by 1.221341 seconds
Feb  1 00:07:02 gn-3 systemd-timesyncd[701]: Timed out waiting for reply from 192.0.2.1:123 (ntp1).
Feb  1 00:07:30 gn-3 systemd-timesyncd[701]: Contacted time server 192.0.2.2:123 (ntp2).
Feb  1 00:08:00 gn-3 smartd[812]: Device: /dev/sda [SAT], SMART Usage Attribute: 194 Temperature_Celsius changed from 64 to 65
Feb  1 00:08:01 gn-3 smartd[812]: Device: /dev/nvme0, number of Error Log entries increased from 3 to 4
Feb  1 00:08:02 gn-3 smartd[812]: Device: /dev/sdb [SAT], 8 Currently unreadable (pending) sectors
Feb  1 00:09:00 gn-3 mdadm[813]: RebuildFinished event detected on md device /dev/md0
Feb  1 00:09:30 gn-3 kernel: [90000.1] md: md0: data-check done.
Feb  1 00:10:00 gn-3 rasdaemon[814]: rasdaemon: Recording mc_event events
Feb  1 00:10:01 gn-3 mcelog[815]: mcelog: Family 6 Model 143 CPU: only decoding architectural errors
Feb  1 00:11:00 gn-3 systemd-oomd[816]: Swap is currently not detected; memory pressure usage will be degraded
Feb  1 00:12:00 gn-3 kernel: [90100.1] nfs: server stor-1 not responding, still trying
Feb  1 00:12:05 gn-3 kernel: [90105.1] nfs: server stor-1 OK
Feb  1 00:12:10 gn-3 kernel: [90110.1] ceph: mds0 caps stale
Feb  1 00:12:12 gn-3 kernel: [90112.1] ceph: mds0 caps renewed
Feb  1 00:13:00 gn-3 kernel: [90160.1] nvme nvme6: starting error recovery
Feb  1 00:13:12 gn-3 kernel: [90172.1] nvme nvme6: Successfully reconnected (1 attempt)
Feb  1 00:14:00 gn-3 kernel: [90200.1] pcieport 0000:64:01.0: AER: Corrected error received: 0000:65:00.0
Feb  1 00:14:00 gn-3 kernel: [90200.1] mlx5_core 0000:65:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)
Feb  1 00:14:00 gn-3 kernel: [90200.1] mlx5_core 0000:65:00.0:   device [15b3:1021] error status/mask=00000001/00002000
Feb  1 00:15:00 gn-3 systemd[1]: fwupd-refresh.service: Deactivated successfully.
Feb  1 00:16:00 gn-3 snapd[900]: storehelpers.go:769: cannot refresh: snap has no updates available: "core20"
Feb  1 00:17:00 gn-3 app[901]: requests were blocked for more than 5 seconds by the proxy
Feb  1 00:18:00 gn-3 app[902]: BUG: this is a message of a program, Kernel panic - not syncing is only quoted
Feb  1 00:19:00 gn-3 dhclient[903]: DHCPACK of 192.0.2.9 from 192.0.2.1
Feb  1 00:20:00 gn-3 kernel: [90500.1] CIFS: Attempting to mount //stor-2/share
Feb  1 00:21:00 gn-3 kernel: [90560.1] perf: interrupt took too long (3140 > 3137), lowering kernel.perf_event_max_sample_rate to 63000
-- Reboot --
Feb  1 06:00:00 gn-3 kernel: Linux version 6.8.0-51-generic (buildd@lcy02)
"""

TERMINAL = """\
$ uptime
 10:00:00 up 41 days,  2:11,  3 users,  load average: 180.11, 175.02, 170.90
$ lsblk
NAME        MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINTS
loop0         7:0    0    64M  1 loop  /snap/core20/2318
nvme0n1     259:0    0 894.3G  0 disk
└─nvme0n1p2 259:2    0 893.8G  0 part  /
$ journalctl --list-boots
-1 0123456789abcdef0123456789abcdef Sun 2026-01-04 08:01:11 UTC—Sat 2026-01-31 22:10:00 UTC
 0 1123456789abcdef0123456789abcdef Sat 2026-01-31 22:14:11 UTC—Sun 2026-02-01 10:00:00 UTC
$ dmidecode -t memory
Handle 0x1100, DMI type 17, 92 bytes
Memory Device
	Total Width: 80 bits
	Size: 64 GB
	Locator: A1
	Error Information Handle: Not Provided
	Size: No Module Installed
$ numactl -H
available: 2 nodes (0-1)
node 0 free: 1200 MB
$ cat /proc/mdstat
Personalities : [raid0] [linear]
md127 : active raid0 nvme3n1[1] nvme2n1[0]
      7501212672 blocks super 1.2 512k chunks

unused devices: <none>
$ zpool status -x
all pools are healthy
$ systemctl --failed
  UNIT LOAD ACTIVE SUB DESCRIPTION
0 loaded units listed.
$ nvme list
Node                  Generic               SN                   Model                                    Namespace  Usage                      Format           FW Rev
--------------------- --------------------- -------------------- ---------------------------------------- ---------- -------------------------- ---------------- --------
/dev/nvme0n1          /dev/ng0n1            S64HNE0T000001       SAMSUNG MZQL23T8HCLS-00A07               0x1          3.84  TB /   3.84  TB    512   B +  0 B   GDC5602Q
"""

WELL = {"intel": INTEL_DELL, "amd": AMD_SUPERMICRO, "grace": GRACE, "a day": DAY, "a terminal": TERMINAL}


@pytest.mark.parametrize("text", WELL.values(), ids=WELL.keys())
def test_a_well_server_raises_no_alarm(text: str):
    assert_quiet(text)


@pytest.mark.parametrize("line", INTEL_DELL.splitlines() + AMD_SUPERMICRO.splitlines() + GRACE.splitlines())
def test_no_line_of_a_boot_is_an_alarm_in_another_dress(line: str):
    if "temperature above threshold" in line:  # well only since the next line says so
        return
    message = line.split("] ", 1)[1]
    assert_quiet(f"Feb  1 00:00:01 gn-3 kernel: {message}")
    assert_quiet(f"[Sun Feb  1 00:00:01 2026] {message}")
