"""All kinds of evidence, and what each is judged by."""

from functools import lru_cache

from diagnostics.engine import catalog
from diagnostics.engine.judges import (
    alerts,
    bmc,
    containers,
    fabric,
    gpu,
    health_states,
    host_text,
    inventory_diff,
    metrics,
    pcie,
    probes,
    redfish,
    storage,
)
from diagnostics.engine.judges.form import Format, of
from incidents.domain import faults


@lru_cache(maxsize=1)
def log_families() -> tuple[str, ...]:
    """Every family that a signature or an Xid can name."""
    named = {signature.family for signature in catalog.signatures()}
    named |= {faults.family_of(xid.fault) for xid in faults.all_xids()}
    named |= {faults.family_of(code) for code in ("gpu.nvswitch.error", "host.cpu.mce", "host.memory.correctable")}
    return tuple(sorted(named))


FORMATS: dict[str, Format] = {
    "log": Format("system log", (), log_families, has_log=True),
    "text": Format("text", (), log_families, has_log=True),
    "job-log": Format(
        "job log",
        (),
        of(),
        has_log=True,
        unread="job logs are not analysed yet; only lines of the system were looked for",
    ),
    **probes.FORMATS,
    **gpu.FORMATS,
    **bmc.FORMATS,
    **redfish.FORMATS,
    **storage.FORMATS,
    **fabric.FORMATS,
    **containers.FORMATS,
    **pcie.FORMATS,
    **host_text.FORMATS,
    **metrics.FORMATS,
    **inventory_diff.FORMATS,
    **health_states.FORMATS,
    **alerts.FORMATS,
}
