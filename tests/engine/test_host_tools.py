"""What the tools of a server print: each sick print names its fault, each healthy one is silent (examples in catalog/tools.toml too)."""
# ruff: noqa: E501  (what is printed is long)

import json

import pytest

from diagnostics.engine.catalog.tools import tools

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots

HEALTHY = [(tool.kind, text) for tool in tools() for text in tool.healthy]
SICK = [(tool.kind, fault, text) for tool in tools() for fault, text in tool.sick]


@pytest.mark.parametrize(("kind", "text"), HEALTHY, ids=[kind for kind, _ in HEALTHY])
def test_a_healthy_print_is_silent(kind: str, text: str):
    found = assert_quiet(text)
    assert found.kind == kind
    assert_quiet(text.replace("\n", "\r\n"))


@pytest.mark.parametrize(("kind", "fault", "text"), SICK, ids=[f"{kind} {fault}" for kind, fault, _ in SICK])
def test_a_sick_print_names_its_fault(kind: str, fault: str, text: str):
    assert {finding.fault for finding in roots(diagnosis_of(text))} == {fault}


def test_two_tools_in_one_paste():
    text = "Personalities : [raid1]\nmd1 : active raid1 sdb2[1] sda2[0]\n      9366 blocks super 1.2 [2/2] [UU]\n\n"
    text += "Filesystem     1K-blocks     Used Available Use% Mounted on\n/dev/md1       936640512 926640512   1000000 100% /\n"
    assert assert_finds("os.disk_full", text).component == "/"


def test_smartctl_without_rights_could_not_check():
    text = "smartctl 7.4 2023-08-01\nSmartctl open device: /dev/nvme0 failed: Permission denied\n"
    assert assert_quiet(text).could_not_check


DF = """\
Filesystem      Size  Used Avail Use% Mounted on
udev             63G     0   63G   0% /dev
tmpfs            13G   13G     0 100% /run
/dev/nvme0n1p2  879G  102G  733G  13% /
/dev/nvme0n1p1  511M  6.1M  505M   2% /boot/efi
/dev/loop3       64M   64M     0 100% /snap/core20/2318
overlay         879G  870G  1.0G 100% /var/lib/docker/overlay2/a1/merged
192.0.2.9:/home  20T   11T  9.0T  55% /home
"""
DF_INODES = """\
Filesystem       Inodes  IUsed    IFree IUse% Mounted on
/dev/nvme0n1p2 58605568 511223 58094345    1% /
/dev/nvme0n1p1        0      0        0     - /boot/efi
"""


def test_df():
    assert_quiet(DF)
    assert_quiet(DF_INODES)
    full = DF.replace("102G  733G  13%", "850G  4.0G 100%")
    assert assert_finds("os.disk_full", full).component == "/"
    assert assert_finds("os.disk_full", DF_INODES.replace("511223 58094345    1%", "58605568 0  100%")).component == "/"


@pytest.mark.parametrize(
    "text",
    [
        "Filesystem     Type 1K-blocks     Used Available Use% Mounted on\n/dev/sda2 ext4 936640512 926640512   1000000 100% /data\n",
        "Filesystem           1K-blocks      Used Available Use% Mounted on\n/dev/mapper/vg_long_name-lv_data\n                     936640512 926640512   1000000 100% /data\n",
        "Dateisystem    1K-Blöcke  Benutzt Verfügbar Verw% Eingehängt auf\n/dev/sda2 936640512 926640512   1000000  100% /data\n",
        "Filesystem     Type     Inodes IUse%  Size  Used Avail Use% Mounted on\n/dev/sda2 ext4  58605568   1%  879G  870G  1.0G 100% /data\n",
    ],
)
def test_df_in_other_shapes(text: str):
    assert assert_finds("os.disk_full", text).component == "/data"


UNITS = """\
  UNIT                     LOAD   ACTIVE SUB     DESCRIPTION
  ssh.service              loaded active running OpenBSD Secure Shell server
{mark}slurmd.service           loaded {state} Slurm node daemon
  snap-core20-2318.mount   loaded active mounted Mount unit for core20

LOAD   = Reflects whether the unit definition was properly loaded.
3 loaded units listed.
"""


def test_units():
    assert_quiet(UNITS.format(mark="  ", state="active running"))
    assert_quiet("  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n")
    for mark in ("● ", "* ", "  "):
        assert (
            assert_finds("os.service_failed", UNITS.format(mark=mark, state="failed failed")).component
            == "slurmd.service"
        )
    assert_finds(
        "container.runtime_down", "● docker.service loaded failed failed Docker Application Container Engine\n"
    )
    assert_finds("os.timer_failed", "● logrotate.service loaded failed failed Rotate log files\n")
    assert_quiet("● user@1000.service loaded failed failed User Manager for UID 1000\n")


def test_one_unit():
    text = "{} slurmd.service - Slurm node daemon\n     Loaded: loaded (/lib/systemd/system/slurmd.service; enabled)\n     Active: {} since Sun 2026-02-01 10:00:00 UTC; 2min ago\n"
    assert_quiet(text.format("●", "active (running)"))
    assert_quiet(text.format("○", "inactive (dead)"))
    assert_finds("os.service_failed", text.format("×", "failed (Result: exit-code)"))
    assert_finds("os.service_failed", text.format("●", "activating (auto-restart) (Result: exit-code)"))


def test_units_as_json():
    row = {
        "unit": "slurmd.service",
        "load": "loaded",
        "active": "failed",
        "sub": "failed",
        "description": "Slurm node daemon",
    }
    assert assert_finds("os.service_failed", json.dumps([row])).component == "slurmd.service"
    assert_quiet(json.dumps([row | {"active": "active"}]))
    assert_quiet(
        json.dumps(
            [
                {
                    "next": None,
                    "left": None,
                    "last": 0,
                    "passed": 0,
                    "unit": "fstrim.timer",
                    "activates": "fstrim.service",
                }
            ]
        )
    )


def test_timers_are_silent():
    text = "NEXT                        LEFT     LAST PASSED UNIT           ACTIVATES\nn/a                         n/a      n/a  n/a    fstrim.timer   fstrim.service\n\n1 timers listed.\n"
    assert_quiet(text)


PS = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nroot           2  0.0  0.0      0     0 ?        S    09:00   0:00 [kthreadd]\n"


def test_processes():
    blocked = "ops         4711  0.0  0.1  10240  2048 ?        D    10:00   0:01 cp a /mnt/shared\n"
    assert_quiet(PS + blocked)
    assert_finds("os.hung_task", PS + blocked + blocked.replace("4711", "4712") + blocked.replace("4711", "4713"))
    kernel = "root         300  0.0  0.0      0     0 ?        D    09:00   0:00 [kworker/u256:1+flush]\n"
    assert_quiet(PS + kernel * 5)


CHRONY_SOURCES = "MS Name/IP address         Stratum Poll Reach LastRx Last sample\n===============\n^{} ntp1.example.test             2   6   {}    33    -12us[  -15us] +/-  340us\n"
NTPQ = "     remote           refid      st t when poll reach   delay   offset  jitter\n==============================================================================\n{}ntp1.example.te .GPS.            1 u   33   64  {}    0.210   -0.012   0.034\n"


def test_clock_sources():
    assert_quiet(CHRONY_SOURCES.format("*", 377))
    assert_finds("os.clock_unsynced", CHRONY_SOURCES.format("?", 0))
    assert_quiet(NTPQ.format("*", 377))
    assert_finds("os.clock_unsynced", NTPQ.format(" ", 0))


def test_free():
    text = "               total        used        free      shared  buff/cache   available\nMem:          2063520    {:>9}      12304        1204       91200   {:>9}\nSwap:               0           0           0\n"
    assert_quiet(text.format(112000, 1900000))
    assert_finds("os.oom_kill", text.format(2050000, 9800))


LSPCI = """\
0000:16:01.0 PCI bridge: Intel Corporation Device 352a (rev 30)
\tBus: primary=16, secondary=17, subordinate=17, sec-latency=0
\t\tDevSta:\tCorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x16 (ok)
0000:17:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]
\tRegion 0: Memory at 21fff0000000 (64-bit, prefetchable) [size=32M]
\tRegion 5: I/O ports at <unassigned> [disabled]
\t\tDevSta:\tCorrErr+ NonFatalErr- FatalErr- UnsupReq+ AuxPwr- TransPend-
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s (ok), Width x16 (ok)
\t\tUESta:\tDLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP- ECRC- UnsupReq+ ACSViol-
\t\tUEMsk:\tDLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt+ RxOF- MalfTLP- ECRC- UnsupReq+ ACSViol-
\t\tUESvrt:\tDLP+ SDES+ TLP- FCP+ CmpltTO- CmpltAbrt- UnxCmplt- RxOF+ MalfTLP+ ECRC- UnsupReq- ACSViol-
\t\tCESta:\tRxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr+
0001:17:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
\tRegion 0: Memory at 23ffc2000000 (64-bit, prefetchable) [size=16M]
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)
"""


@pytest.mark.parametrize(
    ("well", "sick", "fault", "component"),
    [
        ("[H100 SXM5 80GB] (rev a1)", "[H100 SXM5 80GB] (rev ff)", "gpu.off_bus", "0001:17:00.0"),
        ("\tRegion 0: Memory at 23ffc2000000", "\t!!! Unknown header type 7f\n\tRegion 0: Memory at 23ffc2000000", "gpu.off_bus", "0001:17:00.0"),
        ("Memory at 23ffc2000000", "Memory at <unassigned>", "gpu.pcie.bar_space", "0001:17:00.0"),
        ("[ConnectX-7]", "[ConnectX-7] (rev ff)", "host.pcie.link_down", "0000:17:00.0"),
        ("Speed 16GT/s (ok), Width x16 (ok)", "Speed 16GT/s (ok), Width x8 (downgraded)", "fabric.rate_degraded", "0000:17:00.0"),
        ("Speed 32GT/s (ok), Width x16 (ok)", "Speed 32GT/s (ok), Width x4 (downgraded)", "gpu.pcie.degraded", "0001:17:00.0"),
        ("UESta:\tDLP- SDES- TLP-", "UESta:\tDLP+ SDES- TLP-", "host.pcie.fatal", "0000:17:00.0"),
    ],
)  # fmt: skip
def test_lspci(well: str, sick: str, fault: str, component: str):
    assert_quiet(LSPCI)
    assert well in LSPCI
    assert assert_finds(fault, LSPCI.replace(well, sick, 1)).component == component


def test_lspci_without_rights_could_not_check():
    text = "3b:00.0 3D controller: NVIDIA Corporation GH100 (rev a1)\n\tCapabilities: <access denied>\n\tKernel driver in use: nvidia\n"
    assert assert_quiet(text).could_not_check


NVME_JSON = {
    "critical_warning": 0,
    "temperature": 311,
    "avail_spare": 100,
    "spare_thresh": 10,
    "percent_used": 3,
    "media_errors": 0,
    "num_err_log_entries": 4412,
}


@pytest.mark.parametrize(
    "change",
    [
        {"critical_warning": 4},
        {"critical_warning": {"value": 1, "available_spare": 1}},
        {"avail_spare": 2},
        {"media_errors": "12"},
    ],
)
def test_nvme_smart_log_as_json(change: dict[str, object]):
    assert_quiet(json.dumps(NVME_JSON))
    assert_quiet(json.dumps(NVME_JSON | {"percent_used": 117}))
    assert_finds("host.disk.failing", json.dumps(NVME_JSON | change, indent=2))


def test_smart_of_scsi_as_json():
    well = {
        "smartctl": {"version": [7, 4]}, "device": {"name": "/dev/sdf", "protocol": "SCSI"}, "smart_status": {"passed": True},
        "scsi_grown_defect_list": 2, "scsi_error_counter_log": {"read": {"total_uncorrected_errors": 0}},
    }  # fmt: skip
    assert_quiet(json.dumps(well))
    assert assert_finds("host.disk.failing", json.dumps(well | {"scsi_grown_defect_list": 1022})).component == "sdf"
    assert_finds(
        "host.disk.failing", json.dumps(well | {"scsi_error_counter_log": {"read": {"total_uncorrected_errors": 41}}})
    )


@pytest.mark.parametrize(("kind", "fault", "text"), SICK, ids=[f"{kind} {fault}" for kind, fault, _ in SICK])
def test_a_sick_print_may_be_indented(kind: str, fault: str, text: str):
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    assert {finding.fault for finding in roots(diagnosis_of(indented))} == {fault}


def test_a_virtual_function_without_a_driver_is_silent():
    assert_quiet(
        "65:00.2 Ethernet controller: Mellanox Technologies ConnectX Family mlx5Gen Virtual Function (rev ff)\n"
    )
