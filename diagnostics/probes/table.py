"""The probes there are, and the plans that name them. A new probe is one file and one line here."""

from diagnostics.probes import disk, kernel_log, memory, nvml
from diagnostics.probes.base import Context, ProbeOutput, ProbeSpec, could_not_check

PROBES: dict[str, ProbeSpec] = {spec.id: spec for spec in (kernel_log.SPEC, nvml.SPEC, disk.SPEC, memory.SPEC)}

PLANS: dict[str, tuple[str, ...]] = {
    "triage": ("kernel_log", "nvml", "disk", "memory"),
    "verify": ("kernel_log", "nvml", "disk", "memory"),
}


def run(spec: ProbeSpec, context: Context) -> ProbeOutput:
    """Whatever a node prints, a probe answers: a mistake of ours is 'could not check', never a lost run."""
    try:
        return spec.run(context)
    except Exception as error:  # noqa: BLE001  # the reason is kept
        return could_not_check(f"The probe failed: {type(error).__name__}: {error}")
