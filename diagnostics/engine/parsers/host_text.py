"""Texts of the tools of a server that are judged line by line (catalog/tools.toml), and free."""

from diagnostics.engine.catalog.tools import tools
from diagnostics.engine.parsers import df, processes, settings, slurm, ssh_trace, systemd
from diagnostics.engine.parsers.recognise import TextKinds, matches

TEXT_KINDS: TextKinds = (
    *((tool.kind, lambda head, looks_like=tool.looks_like: looks_like.search(head) is not None) for tool in tools()),
    *df.TEXT_KINDS,
    *systemd.TEXT_KINDS,
    *processes.TEXT_KINDS,
    *slurm.TEXT_KINDS,
    *ssh_trace.TEXT_KINDS,
    *settings.TEXT_KINDS,
    ("free", matches(r"(?m:^[ \t]+total +used +free +shared +buff/cache)")),
)  # fmt: skip
