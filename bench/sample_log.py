"""A long log of a busy GPU node, the same for the same seed: quiet lines of many programs, and among them lines that the engine knows.

Nov 29 00:00:01 gn-17 kubelet[3381]: I1129 00:00:01.123456    3381 prober.go:107] "Probe succeeded" ...
Nov 29 00:00:01 gn-17 kernel: [86401.123456] NVRM: Xid (PCI:0000:3b:00): 31, pid=4121, name=python3, ...
"""

# ruff: noqa: E501  log lines are as long as they are
import random
from collections.abc import Iterator
from pathlib import Path

SEED = 20261130
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# {n} a small number, {big} a large one, {hex} eight hex digits, {pci} an address, {ip}, {word} a name; {bus} one of the eight of the GPUs, {server} one of four.
QUIET = (
    "systemd[1]: Started Session {n} of User root.",
    "systemd[1]: session-{n}.scope: Deactivated successfully.",
    "systemd-logind[{n}]: New session {n} of user ops.",
    "sshd[{big}]: Accepted publickey for ops from {ip} port {big} ssh2: ED25519 SHA256:{hex}{hex}{hex}{hex}{hex}",
    "sshd[{big}]: pam_unix(sshd:session): session opened for user ops(uid=1000) by (uid=0)",
    "CRON[{big}]: (root) CMD (/usr/lib/sysstat/sa1 1 1 >/dev/null 2>&1)",
    'kubelet[3381]: I1129 {clock}.{big}    3381 prober.go:107] "Probe succeeded" probeType="Readiness" pod="train/{word}-{hex}"',
    'kubelet[3381]: I1129 {clock}.{big}    3381 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="jobs/{word}-{n}" event={{"ID":"{hex}-{hex}","Type":"ContainerStarted","Data":"{hex}{hex}{hex}{hex}"}}',
    'containerd[2210]: time="2026-11-29T{clock}.{big}Z" level=info msg="StartContainer for \\"{hex}{hex}{hex}{hex}\\" returns successfully"',
    'containerd[2210]: time="2026-11-29T{clock}.{big}Z" level=info msg="shim disconnected" id={hex}{hex}{hex}{hex} namespace=k8s.io',
    "kernel: [{up}] cni0: port {n}(veth{hex}) entered forwarding state",
    "kernel: [{up}] device veth{hex} entered promiscuous mode",
    "kernel: [{up}] IPv6: ADDRCONF(NETDEV_CHANGE): veth{hex}: link becomes ready",
    'kernel: [{up}] audit: type=1400 audit(1764374400.{n}:{big}): apparmor="ALLOWED" operation="open" profile="cri" name="/proc/{big}/stat" pid={big} comm="{word}"',
    "kernel: [{up}] [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:{n} SRC={ip} DST={ip} LEN=44 TOS=0x00 PREC=0x00 TTL=242 ID={big} PROTO=TCP SPT={big} DPT=8728 WINDOW=1024 RES=0x00 SYN URGP=0",
    "kernel: [{up}] perf: interrupt took too long ({big} > {big}), lowering kernel.perf_event_max_sample_rate to {big}",
    "slurmd[4120]: launch task StepId={big}.0 request from UID:1000 GID:1000 HOST:{ip} PORT:{big}",
    "slurmd[4120]: task/affinity: task_p_slurmd_batch_request: task_p_slurmd_batch_request: {big}",
    "slurmstepd[{big}]: done with job",
    "nvidia-persistenced[1822]: device {pci} - persistence mode enabled.",
    "dockerd[1999]: time=\"2026-11-29T{clock}.{big}Z\" level=info msg=\"ignoring event\" container={hex}{hex}{hex}{hex} module=libcontainerd topic=/tasks/delete type=\"*events.TaskDelete\"",
    "node_exporter[1701]: ts=2026-11-29T{clock}.{n}Z caller=collector.go:169 level=debug msg=\"collector succeeded\" name={word} duration_seconds=0.000{big}",
    "train[{big}]: gn-17:{big}:{big} [{n}] NCCL INFO Channel {n}/16 : {n}[{n}] -> {n}[{n}] via P2P/CUMEM/read",
    "train[{big}]: gn-17:{big}:{big} [{n}] NCCL INFO comm 0x{hex} rank {n} nranks 512 cudaDev {n} nvmlDev {n} busId {hex} - Init COMPLETE",
    "train[{big}]: step {big} | loss 2.{big} | lr 3.00e-04 | grad norm 0.{big} | tokens/s {big} | mfu 0.4{n}",
    "rsyslogd[901]: imjournal: {n} messages lost due to rate-limiting",
    "dhclient[{big}]: DHCPREQUEST for {ip} on eno1 to {ip} port 67",
    "mlx_snap[{n}]: polling cq {hex} moderated to {n} usec",
)  # fmt: skip

KNOWN = (
    "kernel: [{up}] NVRM: Xid (PCI:{pci}): 31, pid={big}, name=python3, Ch 000000{n}, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f{hex}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    "kernel: [{up}] NVRM: Xid (PCI:{pci}): 13, pid={big}, name=python3, Graphics SM Warp Exception on (GPC {n}, TPC 0, SM 1): Out Of Range Address",
    "kernel: [{up}] NVRM: Xid (PCI:{pci}): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping, reset gpu to activate.",
    "kernel: [{up}] EDAC MC{n}: 1 CE memory read error on CPU_SrcID#0_MC#1_Chan#0_DIMM#0 (channel:0 slot:0 page:0x{hex} offset:0x40 grain:32 syndrome:0x0 -  err_code:0x0101:0x0090)",
    "kernel: [{up}] pcieport 0000:{bus}:01.0: AER: Multiple Corrected error message received from 0000:{bus}:00.0",
    "kernel: [{up}] nvme0n1: I/O Error (sct 0x2 / sc 0x81) DNR",
    "kernel: [{up}] I/O error, dev nvme1n1, sector {big} op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2",
    "kernel: [{up}] Out of memory: Killed process {big} (python3) total-vm:{big}kB, anon-rss:{big}kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:{big}kB oom_score_adj:0",
    "kernel: [{up}] nfs: server storage-{server} not responding, still trying",
    "kernel: [{up}] nfs: server storage-{server} OK",
    "kernel: [{up}] mlx5_core 0000:{bus}:00.0 ib0: Link down",
    "kernel: [{up}] INFO: task python3:{big} blocked for more than 120 seconds.",
)  # fmt: skip


def write(path: Path, *, size: int, known: float) -> None:
    """`size` bytes, of whose lines the share `known` shows a sign of the engine. The others are as they are, whatever they hold."""
    with path.open("wb") as file:
        for block in blocks(size=size, known=known):
            file.write(block)


def blocks(*, size: int, known: float) -> Iterator[bytes]:
    chance, second, left = random.Random(SEED), 0, size
    while left > 0:
        second += 1
        block = _block(chance, second, known)[:left]
        left -= len(block)
        yield block


def _block(chance: random.Random, second: int, known: float) -> bytes:
    """Some thousand lines of one second. Random parts come out of one big number: a call for each would take minutes a gigabyte."""
    day, rest = divmod(second, 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    stamp = f"{_MONTHS[day // 28 % 12]} {day % 28 + 1:2} {clock} gn-17 "
    digits = chance.randbytes(1 << 16).hex()
    lines = []
    for number in range(4_000):
        at = number * 31
        word = digits[at : at + 8]
        value = int(word, 16)
        row = KNOWN[value % len(KNOWN)] if value % 100_000 < known * 100_000 else QUIET[value % len(QUIET)]
        lines.append(
            stamp
            + row.format(
                n=value % 97, big=value % 99_991 + 10_000, hex=digits[at + 8 : at + 16], clock=clock, bus=f"{value % 8 + 16:02x}", server=value % 4,
                pci=f"0000:{value % 8 + 16:02x}:00", ip=f"10.{value % 7}.{value % 251}.{value % 241}",
                up=f"{second + 86_000}.{value % 900_000 + 100_000}", word=digits[at + 2 : at + 9],
            )
        )  # fmt: skip
    return ("\n".join(lines) + "\n").encode()
