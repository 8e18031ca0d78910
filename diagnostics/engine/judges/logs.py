"""Judges a log in one pass: every line that holds a known literal is shown to each judge of lines."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from diagnostics.engine.judges import boots
from diagnostics.engine.judges.machine_checks import MachineChecks
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.judges.tally import Hit, Tally
from diagnostics.engine.judges.xids import Xids
from diagnostics.engine.parsers import log_export
from diagnostics.engine.parsers.log import Literals, Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Check, Observation


class LineJudge(Protocol):
    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]: ...


@lru_cache(maxsize=1)
def literals() -> Literals:
    return Literals((*Signatures.literals(), *Xids.literals(), *MachineChecks.literals(), *boots.LITERALS))


def judge(windows: Iterable[Log], *, source_name: str) -> tuple[list[Observation], list[Check]]:
    """What the lines show, and what could not be read. `windows` are the pieces of one log, in order."""
    xids = Xids(source_name)
    judges: tuple[LineJudge, ...] = (Signatures(source_name), xids, MachineChecks(source_name))
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
    return seen, xids.gaps()
