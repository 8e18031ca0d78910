"""From the labels of an alert to the subject and the fault. Labels are context; the identity is the subject and the fault family."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from incidents.domain import faults, pci

NODE_LABELS = ("Hostname", "hostname", "node", "nodename", "node_name", "kubernetes_node", "host", "instance")
JOB_LABELS = ("hpc_job", "job_id", "slurm_job_id", "jobid", "training_job")
XID_LABELS = ("xid", "err_code")
KNOWN_SEVERITIES = frozenset(
    {"emergency", "alert", "critical", "error", "major", "warning", "minor", "info", "notice", "none", ""}
)
HEARTBEATS = frozenset({"watchdog", "deadmansswitch", "deadmanssnitch", "heartbeat"})
LOCATOR_LENGTH = 200
FNV_OFFSET, FNV_PRIME, FNV_MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


@dataclass(frozen=True)
class Matcher:
    """A row of the table: if the label fits the pattern (as in file names, any case), the alert stands for the fault."""

    pattern: str
    fault: str
    label: str = "alertname"


@dataclass(frozen=True)
class Identity:
    """What an alert is about. `node` and `job` are names as sent; `locator` names the part, "" if it is the whole."""

    node: str
    job: str
    kind: str
    locator: str
    fault: str
    xid: int | None = None
    uuid: str = ""
    pci_address: str = ""

    @property
    def is_job(self) -> bool:
        return self.fault.startswith("job.") and bool(self.job)


DEFAULT_MATCHERS = tuple(
    Matcher(pattern, fault)
    for pattern, fault in (
        ("*rowremap*pending*", "gpu.row_remap.pending"),
        ("*row*remap*fail*", "gpu.row_remap.failed"),
        ("*uncorrectable*rows*", "gpu.row_remap.pending"),
        ("*gpu*ecc*dbe*", "gpu.ecc.uncorrectable"),
        ("*gpu*doublebit*", "gpu.ecc.uncorrectable"),
        ("*gpu*uncorrectable*", "gpu.ecc.uncorrectable"),
        ("*gpu*singlebit*", "gpu.ecc.correctable_storm"),
        ("*nvswitch*", "gpu.nvswitch.error"),
        ("*nvlink*", "gpu.nvlink.error"),
        ("*fabricmanager*", "gpu.fabric_manager"),
        ("*gpu*missing*", "gpu.count_mismatch"),
        ("*gpu*lost*", "gpu.off_bus"),
        ("*gpu*offbus*", "gpu.off_bus"),
        ("*gpu*count*", "gpu.count_mismatch"),
        ("*gpu*powerbrake*", "gpu.power.brake"),
        ("*gpu*thermal*", "gpu.thermal.slowdown"),
        ("*gpu*temp*", "gpu.thermal.slowdown"),
        ("*gpu*throttl*", "gpu.clocks.low"),
        ("*gpu*pcie*replay*", "gpu.pcie.replay"),
        ("*gpu*pcie*", "gpu.pcie.degraded"),
        ("*gpu*util*", "gpu.util.anomaly"),
        ("nodedown", "host.unreachable"),
        ("hostdown", "host.unreachable"),
        ("instancedown", "host.unreachable"),
        ("*node*notready*", "host.unreachable"),
        ("*node*unreachable*", "host.unreachable"),
        ("*host*unreachable*", "host.unreachable"),
        ("targetdown", "host.monitoring_lost"),
        ("*exporter*down*", "host.monitoring_lost"),
        ("*scrapefail*", "host.monitoring_lost"),
        ("*unexpectedreboot*", "host.reboot_unexpected"),
        ("*edac*uncorrect*", "host.memory.uncorrectable"),
        ("*edac*correct*", "host.memory.correctable_storm"),
        ("*mce*", "host.cpu.mce"),
        ("*machinecheck*", "host.cpu.mce"),
        ("*smart*", "host.disk.failing"),
        ("*nvme*fail*", "host.disk.failing"),
        ("*filesystem*readonly*", "host.fs.readonly"),
        ("*filesystem*outofspace*", "os.disk_full"),
        ("*filesystem*spacefilling*", "os.disk_full"),
        ("*filesystem*almostoutof*", "os.disk_full"),
        ("*outofdiskspace*", "os.disk_full"),
        ("*diskfull*", "os.disk_full"),
        ("*diskpressure*", "os.disk_full"),
        ("*outofinodes*", "os.disk_full"),
        ("*psu*", "host.psu.failed"),
        ("*powersupply*", "host.psu.failed"),
        ("*fan*", "host.fan.failed"),
        ("*inlet*temp*", "host.temp.critical"),
        ("*temperature*critical*", "host.temp.critical"),
        ("*kernelpanic*", "os.kernel_panic"),
        ("*softlockup*", "os.soft_lockup"),
        ("*hungtask*", "os.hung_task"),
        ("*oomkill*", "os.oom_kill"),
        ("*clock*skew*", "os.clock_unsynced"),
        ("*clock*notsynchron*", "os.clock_unsynced"),
        ("*systemd*failed*", "os.service_failed"),
        ("*filedescriptor*", "os.fd_exhausted"),
        ("*conntrack*", "os.conntrack_full"),
        ("*bmc*down*", "bmc.unreachable"),
        ("*ipmi*down*", "bmc.unreachable"),
        ("*selfull*", "bmc.sel_full"),
        ("*imagepull*", "container.image_pull"),
        ("*containerruntime*", "container.runtime_down"),
        ("*kubelet*down*", "container.runtime_down"),
        ("*infiniband*flap*", "fabric.link_flap"),
        ("*link*flap*", "fabric.link_flap"),
        ("*infiniband*symbol*", "fabric.symbol_errors"),
        ("*infiniband*rate*", "fabric.rate_degraded"),
        ("*infiniband*down*", "fabric.link_down"),
        ("*ib*link*down*", "fabric.link_down"),
        ("*rdma*down*", "fabric.link_down"),
        ("*subnetmanager*", "fabric.subnet_manager"),
        ("*job*hang*", "job.hang"),
        ("*training*hang*", "job.hang"),
        ("*training*stall*", "job.hang"),
        ("*nccl*timeout*", "job.comm.timeout"),
        ("*loss*nan*", "job.loss.nan"),
        ("*loss*spike*", "job.loss.spike"),
        ("*straggler*", "job.straggler"),
        ("*checkpoint*fail*", "job.checkpoint.save_failed"),
        ("*throughput*", "job.throughput.regression"),
        ("*job*nodefail*", "job.node_failed"),
    )
)


def label_fingerprint(labels: Mapping[str, str]) -> str:
    """Alertmanager's own: FNV-1a, 64 bit, over name 0xFF value 0xFF of the labels sorted by name; 16 hex digits."""
    value = FNV_OFFSET
    for name in sorted(labels):
        for byte in name.encode() + b"\xff" + str(labels[name]).encode() + b"\xff":
            value = ((value ^ byte) * FNV_PRIME) & FNV_MASK
    return f"{value:016x}"


def identify(labels: Mapping[str, str], matchers: Iterable[Matcher] = ()) -> Identity:
    """Subject, part and fault of the labels. `matchers` (a site's own) are asked first. Nothing is guessed: what is not there is ""."""
    job = _first(labels, JOB_LABELS)
    node = host_of(_first(labels, NODE_LABELS))
    xid = _xid(labels)
    fault = fault_of(labels, xid, matchers) or ("node.unclassified" if node or not job else "job.unclassified")
    kind, locator = part_of(labels, fault)
    return Identity(
        node,
        job,
        kind,
        locator,
        fault,
        xid,
        labels.get("UUID", labels.get("uuid", "")),
        pci_of(labels.get("pci_bus_id", "")),
    )


def fault_of(labels: Mapping[str, str], xid: int | None, matchers: Iterable[Matcher] = ()) -> str:
    """The fault that the labels name: outright, by the site's table, by an Xid, by the table that ships; "" if none does."""
    named = labels.get("fault", "")
    if is_fault(named):
        return named
    own = _match(labels, matchers)
    if own:
        return own
    if xid is not None:
        return faults.for_xid(xid).code
    return _match(labels, DEFAULT_MATCHERS)


def _match(labels: Mapping[str, str], matchers: Iterable[Matcher]) -> str:
    for matcher in matchers:
        value = labels.get(matcher.label, "").lower()
        if matcher.label == "alertname":
            value = re.sub(r"[\s_\-]", "", value)
        if value and fnmatchcase(value, matcher.pattern.lower()) and is_fault(matcher.fault):
            return matcher.fault
    return ""


def is_fault(code: str) -> bool:
    """True if the code is in the list of faults; a row with a mistyped one is passed over."""
    return bool(code) and any(fault.code == code for fault in faults.all_faults())


def part_of(labels: Mapping[str, str], fault: str) -> tuple[str, str]:
    """(kind, locator) of the part; ("node" or "job", "") where the whole is meant."""
    if fault.startswith("job."):
        return "job", ""
    gpu = _number(labels.get("gpu", ""))
    if gpu is not None:
        return "gpu", f"GPU {gpu}"
    pci, uuid = pci_of(labels.get("pci_bus_id", "")), labels.get("UUID", "")
    if pci or uuid:
        return "gpu", (pci or uuid)[:LOCATOR_LENGTH]
    device = labels.get("device", labels.get("port", "")).removeprefix("/dev/")
    for kind, pattern in (("nic_port", r"(mlx|ib|bnxt_re|irdma|roce)\w*"), ("drive", r"(nvme\d|sd[a-z])\w*")):
        if re.fullmatch(pattern, device):
            return kind, device[:LOCATOR_LENGTH]
    return "node", ""


def pci_of(address: str) -> str:
    """A PCI address as the kernel writes it, `0000:9b:00.0`; "" if it is none."""
    return pci.normal(address) or ""


def host_of(instance: str) -> str:
    """The host of `host:port`, lower case, with the brackets of an IPv6 address taken off."""
    instance = instance.strip().lower()
    bracketed = re.fullmatch(r"\[([0-9a-f:.]+)\](?::\d+)?", instance)
    if bracketed:
        return bracketed[1]
    return instance.rpartition(":")[0] if re.fullmatch(r"[^:]+:\d+", instance) else instance


def is_heartbeat(labels: Mapping[str, str]) -> bool:
    """A Watchdog: it says that the path is alive, not that something is wrong."""
    return labels.get("alertname", "").lower() in HEARTBEATS or labels.get("severity", "").lower() == "none"


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str:
    return next((labels[name].strip() for name in names if labels.get(name, "").strip()), "")


def _xid(labels: Mapping[str, str]) -> int | None:
    numbers = (_number(labels.get(name, "")) for name in XID_LABELS)
    return next((number for number in numbers if number), None)


def _number(text: str) -> int | None:
    """A small whole number in ASCII digits; other digits, and numbers of a thousand digits, are no number to us."""
    return int(text) if re.fullmatch(r"[0-9]{1,4}", text.strip()) else None
