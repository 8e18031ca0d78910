"""All kinds of evidence, and what each is judged by."""

from functools import lru_cache
from importlib import import_module

from diagnostics.engine import catalog
from diagnostics.engine.judges.form import Format, of
from incidents.domain import faults


@lru_cache(maxsize=1)
def log_families() -> tuple[str, ...]:
    """Every family that a signature or an Xid can name."""
    named = {signature.family for signature in catalog.signatures()}
    named |= {faults.family_of(xid.fault) for xid in faults.all_xids()}
    named |= {faults.family_of(code) for code in ("gpu.nvswitch.error", "host.cpu.mce", "host.memory.correctable")}
    return tuple(sorted(named))


_LOGS = {
    "log": Format("system log", (), log_families, has_log=True),
    "text": Format("text", (), log_families, has_log=True),
    "job-log": Format(
        "job log",
        (),
        of(),
        has_log=True,
        unread="job logs are not analysed yet; only lines of the system were looked for",
    ),
}
_MODULES = (
    "probes",
    "gpu",
    "bmc",
    "redfish",
    "storage",
    "fabric",
    "containers",
    "pcie",
    "host_text",
    "metrics",
    "inventory_diff",
    "health_states",
    "alerts",
)


def form_of(kind: str) -> Format | None:
    """None for a kind that nobody judges. A log is known without the judges of tools, which take longer to load than it to be read."""
    return _LOGS.get(kind) or formats().get(kind)


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    found = dict(_LOGS)
    for name in _MODULES:
        found |= import_module(f"{__package__}.{name}").FORMATS
    return found
