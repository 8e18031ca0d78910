"""Judges a log in one pass: every line that holds a known literal is shown to each judge of lines."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

from diagnostics.engine.judges import boots, gpu_boot_lines, gpu_dcgm_codes, gpu_names, gpu_xid_reasons
from diagnostics.engine.judges.fabric_link_lines import LinkLines
from diagnostics.engine.judges.gpu_boot_lines import GpuBootLines
from diagnostics.engine.judges.gpu_dcgm_codes import DcgmCodes
from diagnostics.engine.judges.gpu_names import GpuNames
from diagnostics.engine.judges.gpu_xid_reasons import XidReasons
from diagnostics.engine.judges.gpu_xids import Xids
from diagnostics.engine.judges.machine_checks import MachineChecks
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.judges.tally import Clear, Hit, Tally
from diagnostics.engine.judges.timers import Timers
from diagnostics.engine.judges.unclean_start import UncleanStart
from diagnostics.engine.parsers import log_export
from diagnostics.engine.parsers.log import Literals, Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import MISSHAPEN, Check, Observation
from incidents.domain.hardware import PartFacts


class LineJudge(Protocol):
    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]: ...


@runtime_checkable
class _Gaps(Protocol):
    """A judge that knows of lines which it did not understand."""

    def gaps(self) -> list[Check]: ...


# Each judge with the literals of the lines that it is shown.
_JUDGES: tuple[tuple[Callable[[str], LineJudge], Callable[[], tuple[str, ...]]], ...] = (
    (Signatures, Signatures.literals),
    (Xids, Xids.literals),
    (MachineChecks, MachineChecks.literals),
    (LinkLines, LinkLines.literals),
    (Timers, Timers.literals),
    (UncleanStart, UncleanStart.literals),
    (DcgmCodes, lambda: tuple(gpu_dcgm_codes.literals())),
    (GpuBootLines, lambda: gpu_boot_lines.LITERALS),
    (XidReasons, lambda: gpu_xid_reasons.LITERALS),
    (GpuNames, lambda: gpu_names.LITERALS),
)


@lru_cache(maxsize=1)
def literals() -> Literals:
    return Literals((*(literal for _, named in _JUDGES for literal in named()), *boots.LITERALS))


@lru_cache(maxsize=4096)
def _places_of_judges(found: tuple[str, ...]) -> tuple[int, ...]:
    """Which of the judges a line with these literals is for."""
    return tuple(place for place, (_, named) in enumerate(_JUDGES) if not set(found).isdisjoint(named()))


class LogSigns(NamedTuple):
    """What the lines show, what could not be read, what the lines take back of what was printed before them, and which boards they name."""

    observations: list[Observation]
    gaps: list[Check]
    clears: tuple[Clear, ...]
    parts: list[PartFacts]


NOTHING = LogSigns([], [], (), [])


def judge(windows: Iterable[Log], *, source_name: str) -> LogSigns:
    """`windows` are the pieces of one log, in order."""
    judges = [make(source_name) for make, _ in _JUDGES]
    tally, reboots, odd = Tally(), boots.Boots(), _OddLines(source_name)
    for log in windows:
        for printed, found in log.lines_with(literals()):
            if printed.odd:
                odd.add(printed.number, printed.odd)
            try:
                line = reboots.tell(log_export.enriched(printed, log))
            except MISSHAPEN as error:
                odd.add(printed.number, repr(error))
                line = printed
            for place in _places_of_judges(found):
                try:
                    for hit in judges[place].see(line, found, log):
                        tally.add(hit)
                except MISSHAPEN as error:
                    odd.add(line.number, repr(error))
    seen = tally.observations()
    if not reboots.has_several:
        seen = [replace(one, boot=boots.without_numbers(one.boot)) for one in seen]
    gaps = [gap for one in judges if isinstance(one, _Gaps) for gap in one.gaps()] + odd.gaps()
    parts = [part for one in judges if isinstance(one, GpuNames) for part in one.parts()]
    return LogSigns(seen, gaps, tuple(tally.clears), parts)


class _OddLines:
    """The lines that some judge stumbled over, the first few by number: one of them hides nothing of the others."""

    _MOST = 3

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._why: dict[int, str] = {}
        self._count = 0

    def add(self, number: int, why: str) -> None:
        self._count += number not in self._why
        if len(self._why) < self._MOST:
            self._why.setdefault(number, why)

    def gaps(self) -> list[Check]:
        if not self._count:
            return []
        lines = "; ".join(f"line {number} ({why})" for number, why in self._why.items())
        more = self._count - len(self._why)
        reason = f"not understood: {lines}" + (f"; and {more} more" if more else "")
        return [Check(self._source_name, (), "could_not_check", reason)]
