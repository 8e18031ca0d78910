"""What the kernel said since it started: from the journal where there is one, else from the ring buffer."""

from dataclasses import replace

from diagnostics.probes.base import (
    MEBIBYTE,
    Captured,
    Context,
    ProbeOutput,
    ProbeSpec,
    Result,
    could_not_check,
    found,
    not_supported,
)

JOURNAL = ("journalctl", "-k", "-b", "--no-pager", "-q", "-o", "short-iso-precise")
RING_BUFFER = (
    ("dmesg", "--time-format", "iso", "--decode", "--nopager"),
    ("dmesg", "--time-format", "iso"),
    ("dmesg", "-T"),
    ("dmesg",),
)
DEADLINE_SECONDS = 30.0
SHARE_SECONDS = 8.0
MAX_BYTES = 32 * MEBIBYTE
WITHOUT_PERMISSION = (
    "The kernel log may not be read: {complaint}. Add the user that runs Sickbay to the group systemd-journal or adm, "
    "or set kernel.dmesg_restrict=0."
)
EMPTY = (
    "The kernel log is empty, which says nothing: a container may hide it. Run Sickbay on the host or upload the log."
)
CUT = "Only the last {mebibytes} MiB of the {source} were read; the oldest lines are missing."
STOPPED = "The journal did not end in time; only the ring buffer was read, which forgets its oldest lines."
UNREADABLE = "The kernel log could not be read: {complaint}. Upload it as evidence instead."


def read(context: Context) -> ProbeOutput:
    """Entries older than `since` are left out where the source can do that; the engine drops the rest by their time."""
    # With --since a healthy log would be empty and could not be told from a machine that keeps no journal.
    journal = _run(context, JOURNAL)
    if _has_entries(journal):
        return _evidence("journal", journal)
    attempts = [journal]
    for command in RING_BUFFER:
        attempts.append(result := _run(context, command))
        if result.code == 0 and result.out.strip():
            return _evidence("ring buffer", result, gap=STOPPED if _was_stopped(journal) else "")
        if _is_forbidden(result):
            return could_not_check(WITHOUT_PERMISSION.format(complaint=result.complaint))
    if all(_is_missing(attempt) for attempt in attempts):
        return not_supported("This machine has neither journalctl nor dmesg.")
    if attempts[-1].code == 0:
        return could_not_check(EMPTY)
    return could_not_check(UNREADABLE.format(complaint=attempts[-1].complaint))


def _run(context: Context, command: tuple[str, ...]) -> Result:
    return context.transport.run(command, deadline_seconds=SHARE_SECONDS, max_bytes=MAX_BYTES, newest=True)


def _was_stopped(result: Result) -> bool:
    return result.code is None and bool(result.out)


def _has_entries(result: Result) -> bool:
    text = result.out.strip()
    return result.code == 0 and bool(text) and not text.startswith(b"-- No entries --")


def _evidence(source: str, result: Result, *, gap: str = "") -> ProbeOutput:
    captured = Captured("kernel.log", "text/plain", result.out)
    if result.is_cut:
        gap = CUT.format(mebibytes=MAX_BYTES // MEBIBYTE, source=source)
    # What is there may show a fault; with lines missing it cannot show that there is none.
    return replace(could_not_check(gap), evidence=(captured,)) if gap else found(captured)


def _is_forbidden(result: Result) -> bool:
    complaint = result.complaint.lower()
    return result.code != 0 and ("not permitted" in complaint or "permission denied" in complaint)


def _is_missing(result: Result) -> bool:
    return result.code is None and "No such file" in result.problem


FAMILIES = (
    "gpu.presence", "gpu.memory", "gpu.nvlink", "gpu.firmware", "gpu.application", "gpu.thermal", "gpu.power", "gpu.pcie",
    "gpu.driver", "host.availability", "host.memory", "host.cpu", "host.pcie", "host.storage", "host.cooling", "os.kernel",
    "os.memory", "os.hang", "os.limits", "os.modules", "fabric.link", "fabric.adapter",
)  # fmt: skip

SPEC = ProbeSpec(
    id="kernel_log",
    version="1",
    title="Kernel log",
    families=FAMILIES,
    deadline_seconds=DEADLINE_SECONDS,
    run=read,
)
