"""Judges a log in one pass: every line that holds a known literal is shown to each judge of lines."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from diagnostics.engine.judges import boots, dcgm_codes, gpu_boot_lines
from diagnostics.engine.judges.dcgm_codes import DcgmCodes
from diagnostics.engine.judges.fabric_link_lines import LinkLines
from diagnostics.engine.judges.gpu_boot_lines import GpuBootLines
from diagnostics.engine.judges.machine_checks import MachineChecks
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.judges.tally import Clear, Hit, Tally
from diagnostics.engine.judges.timers import Timers
from diagnostics.engine.judges.unclean_start import UncleanStart
from diagnostics.engine.judges.xids import Xids
from diagnostics.engine.parsers import log_export
from diagnostics.engine.parsers.log import Literals, Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check, Observation


class LineJudge(Protocol):
    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]: ...


@lru_cache(maxsize=1)
def literals() -> Literals:
    return Literals(
        (
            *Signatures.literals(),
            *Xids.literals(),
            *MachineChecks.literals(),
            *LinkLines.literals(),
            *Timers.literals(),
            *UncleanStart.literals(),
            *dcgm_codes.LITERALS,
            *gpu_boot_lines.LITERALS,
            *boots.LITERALS,
        )
    )


class LogSigns(NamedTuple):
    """What the lines show, what could not be read, and what the lines take back of what was printed before them."""

    observations: list[Observation]
    gaps: list[Check]
    clears: tuple[Clear, ...]


def judge(windows: Iterable[Log], *, source_name: str) -> LogSigns:
    """`windows` are the pieces of one log, in order."""
    xids = Xids(source_name)
    judges: tuple[LineJudge, ...] = (
        Signatures(source_name), xids, MachineChecks(source_name), LinkLines(source_name), Timers(source_name),
        UncleanStart(source_name), DcgmCodes(source_name), GpuBootLines(source_name),
    )  # fmt: skip
    tally, reboots = Tally(), boots.Boots()
    for log in windows:
        for printed, found in log.lines_with(literals()):
            line = reboots.tell(log_export.enriched(printed, log))
            for one in judges:
                for hit in one.see(line, found, log):
                    tally.add(hit)
    seen = tally.observations()
    if not reboots.has_several:
        seen = [replace(one, boot=boots.without_numbers(one.boot)) for one in seen]
    return LogSigns(seen, xids.gaps(), tuple(tally.clears))
