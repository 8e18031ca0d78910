"""What well machines print. A root finding here is a false alarm, the worst that the engine can do."""

import json

import pytest

from .helpers import assert_quiet

BOOT = """\
[    0.000000] Linux version 6.8.0-51-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13) #52-Ubuntu SMP PREEMPT_DYNAMIC
[    0.000000] Command line: BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 ro panic=10 pci=realloc crashkernel=512M
[    0.021133] mce: CPU0: Thermal monitoring enabled (TM1)
[    0.021150] mce: CPU supports 20 MCE banks
[    0.310000] NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.
[    0.412000] pci 0000:17:00.1: BAR 7: no space for [mem size 0x00100000 64bit]
[    0.412900] pci 0000:17:00.1: BAR 7: failed to assign [mem size 0x00100000 64bit]
[    0.900000] pcieport 0000:15:01.0: AER: enabled with IRQ 35
[    0.901000] pcieport 0000:15:01.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+
[    1.100000] ERST: Error Record Serialization Table (ERST) support is initialized.
[    1.101000] GHES: APEI firmware first mode is enabled by APEI bit and WHEA _OSC.
[    1.200000] EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0: DEV 0000:7e:0c.0 (INTERRUPT)
[    2.000000] nvme nvme0: pci function 0000:81:00.0
[    2.010000] nvme nvme0: 128/0/0 default/read/poll queues
[    2.200000] ata1: SATA link down (SStatus 0 SControl 300)
[    3.000000] EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Quota mode: none.
[    4.000000] EXT4-fs (nvme0n1p2): re-mounted r/w. Quota mode: none.
[    5.000000] mlx5_core 0000:29:00.0: firmware version: 28.39.3004
[    5.100000] mlx5_core 0000:29:00.0: mlx5_pcie_event:302:(pid 414): PCIe slot advertised sufficient power (75W).
[    5.200000] mlx5_core 0000:29:00.0: Port module event: module 0, Cable plugged
[    5.300000] mlx5_core 0000:29:00.0 ens9np0: Link up
[    7.000000] nvidia: loading out-of-tree module taints kernel.
[    7.000100] nvidia: module license 'NVIDIA' taints kernel.
[    7.000200] nvidia: module verification failed: signature and/or required key missing - tainting kernel
[    7.100000] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build
[    7.200000] nvidia-nvswitch0: open (major=510)
[    7.300000] nvidia-modeset: Loading NVIDIA UNIX Open Kernel Mode Setting Driver for x86_64  570.86.15
[    8.000000] loop4: detected capacity change from 0 to 8
[    9.000000] systemd[1]: Started Docker Application Container Engine.
[   10.000000] nf_conntrack: default automatic helper assignment has been turned off for security reasons
[   99.000000] traps: python3[991] general protection fault ip:7f20 sp:7ffd error:0 in libc.so.6[7f20+1000]
[  120.000000] python3[2022]: segfault at 0 ip 0000000000401136 sp 00007ffe5c3d1a50 error 4 in a.out[401000+1000]
[  130.000000] perf: interrupt took too long (2512 > 2500), lowering kernel.perf_event_max_sample_rate to 79000
[  140.000000] [UFW BLOCK] IN=eno1 OUT= MAC=00 SRC=192.0.2.9 DST=192.0.2.1 LEN=40 PROTO=TCP SPT=22 DPT=79 SYN
[  150.000000] mce: CPU6: Package temperature/speed normal
"""

JOURNAL = """\
Mar 02 10:00:00 gn-7 systemd[1]: Starting NVIDIA fabric manager service...
Mar 02 10:00:01 gn-7 nv-fabricmanager[88]: Successfully configured all the available NVSwitches to route GPU NVLink traffic.
Mar 02 10:00:01 gn-7 systemd[1]: Started NVIDIA fabric manager service.
Mar 02 10:05:00 gn-7 CRON[99]: (root) CMD (/usr/lib/sysstat/debian-sa1 1 1)
Mar 02 10:05:01 gn-7 CRON[98]: (CRON) info (No MTA installed, discarding output)
Mar 02 10:06:00 gn-7 sshd[101]: Failed password for invalid user admin from 192.0.2.77 port 4711 ssh2
Mar 02 10:07:00 gn-7 systemd[1]: user@1000.service: Failed with result 'exit-code'.
Mar 02 10:08:00 gn-7 systemd[1]: docker.service: Deactivated successfully.
Mar 02 10:09:00 gn-7 chronyd[700]: Can't synchronise: no selectable sources
Mar 02 10:09:30 gn-7 chronyd[700]: Selected source 192.0.2.1 (ntp1)
Mar 02 10:10:00 gn-7 gpu-watcher[500]: old event: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.
"""

SMI_IDLE = """\
==============NVSMI LOG==============

Timestamp                                 : Mon Mar  2 10:00:00 2026
Driver Version                            : 570.86.15
Attached GPUs                             : 1
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    GPU Recovery Action                   : None
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 1
    Clocks Event Reasons
        Idle                              : Active
        Applications Clocks Setting       : Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 0
            DRAM Uncorrectable            : 0
        Aggregate
            DRAM Uncorrectable            : N/A
            SRAM Threshold Exceeded       : No
    Retired Pages
        Pending Page Blacklist            : N/A
    Remapped Rows
        Correctable Error                 : 4
        Uncorrectable Error               : 0
        Pending                           : No
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 31 C
        GPU T.Limit Temp                  : 54 C
        GPU Shutdown T.Limit Temp         : -8 C
        GPU Slowdown T.Limit Temp         : -2 C
    Fabric
        State                             : Completed
        Status                            : Success
"""

SMI_XML = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log><gpu id="00000000:1B:00.0">
<mig_mode><current_mig>Disabled</current_mig><pending_mig>Disabled</pending_mig></mig_mode>
<remapped_rows><remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
<temperature><gpu_temp>44 C</gpu_temp><gpu_temp_max_threshold>95 C</gpu_temp_max_threshold>
<gpu_temp_slow_threshold>90 C</gpu_temp_slow_threshold></temperature>
<clocks_event_reasons><clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown></clocks_event_reasons>
</gpu></nvidia_smi_log>
"""

SDR = """\
Inlet Temp       | 04h | ok  |  7.1 | 23 degrees C
CPU1 Temp        | 0Eh | ok  |  3.1 | 55 degrees C
GPU Temp         | 0Fh | ns  |  3.2 | No Reading
Fan1 RPM         | 30h | ok  |  7.1 | 8520 RPM
Fan9 RPM         | 38h | ns  |  7.1 | Disabled
PS1 Status       | 85h | ok  | 10.1 | Presence detected
PS Redundancy    | 77h | ok  |  7.1 | Fully Redundant
"""

SEL = """\
   1 | 01/01/2000 | 00:15:20 | System Firmware Progress #0x05 | Motherboard initialization | Asserted
   2 | 03/02/2026 | 10:01:33 | System Event BIOS Evt Sensor | Timestamp Clock Sync | Asserted
   3 | 03/02/2026 | 10:02:07 | Critical Interrupt PCIe Cor Sensor |  | Asserted
   4 | 03/02/2026 | 10:03:00 | Power Supply PS1 Status | Power Supply AC lost | Asserted
   5 | 03/02/2026 | 10:09:00 | Power Supply PS1 Status | Power Supply AC lost | Deasserted
   6 | 03/02/2026 | 10:10:00 | Button Power Button | Power Button pressed | Asserted
   7 | 03/02/2026 | 10:10:04 | Power Unit Pwr Unit Status | Power off/down | Asserted
   8 | 03/02/2026 | 10:11:00 | Temperature Inlet | Upper Critical going high | Asserted | Reading 43 > Threshold 42 degrees C
   9 | 03/02/2026 | 10:12:00 | Temperature Inlet | Upper Critical going high | Deasserted | Reading 40 > Threshold 42 degrees C
"""

IBSTAT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tLink layer: InfiniBand
CA 'mlx5_1'
\tCA type: MT4129
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tLink layer: InfiniBand
CA 'mlx5_2'
\tCA type: MT4125
\tPort 1:
\t\tState: Down
\t\tPhysical state: Disabled
\t\tRate: 40
\t\tLink layer: Ethernet
"""

LSPCI = """\
80:01.0 PCI bridge: Intel Corporation Device 352a (rev 04)
\tBus: primary=80, secondary=81, subordinate=81, sec-latency=0
\t\tLnkCap:\tPort #1, Speed 16GT/s, Width x8, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s, Width x8
81:00.0 3D controller: NVIDIA Corporation AD102GL [L40S] (rev a1)
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1
\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)
"""

SMART = json.dumps(
    {
        "smartctl": {"version": [7, 4], "exit_status": 0},
        "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
        "smart_status": {"passed": True},
        "nvme_smart_health_information_log": {
            "critical_warning": 0,
            "available_spare": 100,
            "available_spare_threshold": 10,
            "percentage_used": 104,
            "media_errors": 0,
            "num_err_log_entries": 991,
            "unsafe_shutdowns": 77,
        },
    },
    indent=2,
)

REDFISH = json.dumps(
    {
        "@odata.id": "/redfish/v1/Chassis/1/Thermal",
        "Fans": [
            {"Name": "Fan 1", "Reading": 8000, "Status": {"State": "Enabled", "Health": "OK"}},
            {"Name": "Fan 9", "Reading": None, "Status": {"State": "Absent", "Health": None}},
        ],
        "Temperatures": [{"Name": "Inlet", "ReadingCelsius": 22, "Status": {"State": "Enabled", "Health": "OK"}}],
    },
    indent=2,
)

DCGM_DIAG = """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Deployment  --------+------------------------------------------------|
| Denylist                  | Pass                                           |
| NVML Library              | Pass                                           |
|-----  Hardware  ----------+------------------------------------------------|
| GPU Memory                | Pass - All                                     |
| Pulse Test                | Skip - All                                     |
+---------------------------+------------------------------------------------+
"""

CHRONY = "Reference ID    : C0000201 (ntp1)\nStratum         : 3\nLeap status     : Normal\n"
NVLINK_BARE = "GPU 0: NVIDIA L40S (UUID: GPU-0)\n\t Link 0: <inactive>\n\t Link 1: <inactive>\n"
QUOTES = '2026/03/02 10:35:49 INFO condition="Message:ErrorCode:119 kernel: [16450076.4] NVRM: Xid (PCI:0002:00:00): 119, pid=1"\n'
POD = (
    "Normal  Pulled   3s  kubelet  Successfully pulled image\n"
    "Normal  Started  2s  kubelet  Started container trainer\n"
    "Warning  Unhealthy  1s  kubelet  Readiness probe failed\n"
)
SWITCH_AGENT = 'time=2026-03-02T10:00:00Z level=info msg="last SXid (PCI:0000:c4:00.0): 20034 was 9 days ago"\n'

WELL = {
    "boot": BOOT, "journal": JOURNAL, "nvidia-smi idle": SMI_IDLE, "nvidia-smi xml": SMI_XML, "sdr": SDR, "sel": SEL, "ibstat": IBSTAT,
    "lspci": LSPCI, "smart": SMART, "redfish": REDFISH, "dcgmi diag": DCGM_DIAG, "chrony": CHRONY, "nvlink without bridge": NVLINK_BARE,
    "an agent's quote": QUOTES, "pod events": POD, "another agent": SWITCH_AGENT,
}  # fmt: skip


@pytest.mark.parametrize("text", WELL.values(), ids=WELL.keys())
def test_a_well_machine_raises_no_alarm(text: str):
    assert_quiet(text)


@pytest.mark.parametrize("text", WELL.values(), ids=WELL.keys())
def test_nor_does_it_with_windows_line_ends(text: str):
    assert_quiet(text.replace("\n", "\r\n"))
