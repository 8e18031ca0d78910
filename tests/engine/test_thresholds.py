"""Just below a threshold there is no fault, just at it there is one. thresholds.toml says where each comes from."""

import pytest

from diagnostics.engine import catalog

from .helpers import diagnosis_of, roots

TRACE = (
    "debug1: Connecting to gn-1 [192.0.2.1] port 22.\ndebug1: Entering interactive session.\n"
    "debug1: Sending environment.\n\nreal\t0m{}s\n"
)
PS = "USER  PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n"
REFUSED = "{0:4x} | 02/01/2026 | 10:00:0{0} | Session Audit #0x46 | Invalid Username or Password | Asserted\n"
GIDS = "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n"
OWN_GID = "mlx5_{0}\t1\t0\tfe80:0000:0000:0000:0000:c2ff:fe11:203{0}\t\t\tv2\tens{0}np0\n"
ROUTED_GID = "mlx5_{0}\t1\t1\t0000:0000:0000:0000:0000:ffff:0a31:020{0}\t10.49.2.{0}  \tv2\tens{0}np0\n"
PORT = "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: {}\n"
SENSOR = (
    "CPU1 Temp        | {}     | degrees C  | ok    | na        | na        | na        | 90.000    | 95.000    | na\n"
)
CELLS = """| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| {}   31C    P0   {} /  700W |       1MiB /  81559MiB |      0%      Default |
"""
BOOTS = "[ {}.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"


def many(row: str, count: float) -> str:
    return "".join(row.format(n) for n in range(1, int(count) + 1))


def gids(count: float) -> str:
    return GIDS + "".join(OWN_GID.format(n) + ROUTED_GID.format(n) for n in range(int(count))) + OWN_GID.format(9)


# What is printed at a value, the fault that it then is, and by how much less it is none.
LIMITS = {
    ("host", "login_s"): (lambda value: TRACE.format(value), "os.session_hang", 1),
    ("host", "waiting_tasks"): (
        lambda value: PS + many("ops {} 0.0 0.1 10240 2048 ? D 10:00 0:01 cp a /mnt/b\n", value), "os.hung_task", 1,
    ),
    ("host", "full_share"): (
        lambda value: f"fs.file-nr = {round(value * 100_000)}\t0\t100000\n", "os.fd_exhausted", 0.01,
    ),
    ("fabric", "gid_sisters"): (gids, "fabric.config", 1),
    ("gpu", "unread_cells"): (lambda value: CELLS.format(*["ERR!"] * int(value), *["N/A"] * (2 - int(value))), "gpu.lost", 1),
    ("bmc", "failed_logins"): (
        lambda value: many(REFUSED, value),
        "bmc.audit_event", 1,
    ),
    ("disk", "full_share"): (
        lambda value: f"Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda1 10000000 {round(value * 10**7)} "
        f"{round((1 - value) * 10**7)} {round(value * 100)}% /\n",
        "os.disk_full", 0.01,
    ),
    ("scsi", "grown_defects"): (
        lambda value: f'{{"device": {{"name": "/dev/sda"}}, "smart_status": {{"passed": true}}, "scsi_grown_defect_list": {value:g}}}',
        "host.disk.failing", 1,
    ),
    ("scsi", "uncorrected_writes"): (
        lambda value: '{"device": {"name": "/dev/sda"}, "smart_status": {"passed": true}, "scsi_error_counter_log": {"write": '
        f'{{"total_uncorrected_errors": {value:g}}}}}}}',
        "host.disk.failing", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", LIMITS, ids=".".join)
def test_a_threshold_counts_from_its_value_on(where: tuple[str, str]):
    printed, fault, less = LIMITS[where]
    value = catalog.thresholds()[where[0]][where[1]]
    assert [finding.fault for finding in roots(diagnosis_of(printed(value)))] == [fault]
    assert [finding.fault for finding in roots(diagnosis_of(printed(value - less)))] == []


def test_a_rate_far_below_what_the_adapter_can_do():
    best, share = 400, catalog.thresholds()["fabric"]["adapter_rate_share"]
    assert roots(diagnosis_of(PORT.format(f"{best * share:g}"))) == []
    assert [finding.fault for finding in roots(diagnosis_of(PORT.format(f"{best * share - 1:g}")))] == [
        "fabric.rate_degraded"
    ]


def test_a_clock_that_goes_back_further_is_another_boot():
    back = catalog.thresholds()["host"]["clock_back_s"]
    assert len({finding.boot for finding in diagnosis_of(BOOTS.format(500) + BOOTS.format(500 - back)).findings}) == 1
    same = diagnosis_of(BOOTS.format(500) + BOOTS.format(500 - back)).findings[0]
    other = diagnosis_of(BOOTS.format(500) + BOOTS.format(500 - back - 1)).findings[0]
    assert (same.boot, other.boot) == (None, "2") or same.boot != other.boot
