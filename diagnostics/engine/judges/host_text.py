"""The texts that the tools of a server print, and what each is judged by."""

from dataclasses import replace

from diagnostics.engine.judges import (
    clock,
    free_memory,
    logins,
    processes,
    settings,
    slurm,
    space,
    ssh_trace,
    systemd,
    tools,
)
from diagnostics.engine.judges.form import Format, of

_CHRONY = tools.FORMATS["chrony"]
_LOGINS = tools.FORMATS["logins"]

FORMATS = {
    **tools.FORMATS,
    "chrony": replace(_CHRONY, judges=(*_CHRONY.judges, clock.no_source)),
    "df": Format("file systems", (space.full,), of("os.space"), has_log=True),
    "processes": Format("processes", (processes.blocked,), of("os.hang"), has_log=True),
    "free": Format("memory", (free_memory.nearly_none,), of("os.memory"), has_log=True),
    "logins": replace(_LOGINS, judges=(*_LOGINS.judges, logins.crashed)),
    **systemd.FORMATS,
    **slurm.FORMATS,
    **ssh_trace.FORMATS,
    **settings.FORMATS,
}
