"""One piece of evidence: cut into its sections, recognised, judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.engine import intake
from diagnostics.engine.judges import logs
from diagnostics.engine.judges.form import Format
from diagnostics.engine.judges.formats import form_of
from diagnostics.engine.judges.tally import Clear
from diagnostics.engine.parsers import quoting, sections
from diagnostics.engine.parsers.detect import Detected
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Check, EvidenceLine, Observation, Part
from incidents.domain.hardware import PartFacts

# What reading a document of the right kind in the wrong shape raises; ElementTree's ParseError is a SyntaxError.
_MISSHAPEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, SyntaxError)


@dataclass(frozen=True, slots=True)
class Read:
    """What one piece said. `node` is the host that a prompt named; `parts` are the hardware that the evidence identified.

    `command` is what printed it, where the file tells.
    """

    kind: str
    observations: Sequence[Observation] = ()
    checks: Sequence[Check] = ()
    parts: Sequence[PartFacts] = ()
    node: str | None = None
    clears: Sequence[Clear] = ()
    command: str = ""


def read(part: Part) -> list[Read]:
    """One for each section. A section of no known kind is passed over where others are known."""
    held, gaps = intake.hold(part)
    pieces = sections.split(quoting.without(held))
    found = [_shifted(_safely(piece.part), piece) for piece in pieces]
    found = [_settled(one, found[at + 1 :]) for at, one in enumerate(found)]
    if len(found) > 1:
        found = [one for one in found if one.kind not in ("unknown", "empty")] or found[:1]
    found[-1] = replace(found[-1], checks=[*found[-1].checks, *gaps])
    return found


def _settled(one: Read, later: Sequence[Read]) -> Read:
    """What a later section takes back is over: a line that says so, or the same command that shows it no more."""
    clears = [
        clear for read in later if None in (read.node, one.node) or read.node == one.node for clear in read.clears
    ]
    again = next((read for read in reversed(later) if _is_same_look(read, one)), None)
    standing = {(seen.fault, seen.component) for seen in again.observations} if again else set()

    def is_over(seen: Observation) -> bool:
        return any(clear.covers(seen) for clear in clears) or (
            again is not None and (seen.fault, seen.component) not in standing
        )

    return replace(
        one, observations=[replace(seen, role="note") if is_over(seen) else seen for seen in one.observations]
    )


def _is_same_look(later: Read, one: Read) -> bool:
    """True for two prints of a state by the same command, in full both times; a log tells of events."""
    if not one.command or later.command != one.command:
        return False
    looked = {name for check in one.checks if check.status == "clean" for name in check.families}
    again = {name for check in later.checks if check.status == "clean" for name in check.families}
    return (
        one.kind not in ("log", "text", "job-log")
        and (later.kind, later.node) == (one.kind, one.node)
        and looked <= again
    )


def _safely(part: Part) -> Read:
    """What ends the reading of one piece is a gap of that piece, and no more."""
    try:
        return _read(part)
    except (*_MISSHAPEN, OverflowError) as error:
        return _unread(part, f"it cannot be read ({type(error).__name__}: {error})")


def _read(part: Part) -> Read:
    found = intake.recognise(part)
    form = form_of(found.kind)
    if form is None or found.payload is None:
        return _unread(part, found.reason or "format not recognised", found.kind)
    unread: list[Check] = []
    clears: tuple[Clear, ...] = ()
    named: list[PartFacts] = []
    try:
        observations = [seen for judge in form.judges for seen in judge(found.payload, source_name=part.name)]
        if form.has_log and isinstance(found.payload, Log):
            windows = intake.windows(part, found.payload)
            lines = logs.judge(windows, source_name=part.name)
            observations += lines.observations
            unread, clears = [*lines.gaps, *intake.gaps(part, windows)], lines.clears
            named = lines.parts
        parts = [*named, *form.parts(found.payload)]
    except _MISSHAPEN as error:
        reason = f"the {form.name} document is not in the form that it should have ({type(error).__name__}: {error})"
        return Read(found.kind, checks=[Check(part.name, form.families(), "could_not_check", reason)])
    if found.kind == "text":
        return replace(_text(part, form, found, observations, unread), clears=clears, parts=parts)
    first = Read(found.kind, observations, _checks(part, form, found, unread), parts, clears=clears)
    return _joined(first, [_also(part, also, found) for kind in found.also if (also := form_of(kind))])


def _also(part: Part, form: Format, found: Detected) -> Read:
    """What a further kind in the same text says; what it cannot read is no gap, for the text was read as its first kind."""
    try:
        observations = [seen for judge in form.judges for seen in judge(found.payload, source_name=part.name)]
        return Read("", observations, _checks(part, form, found, ()), list(form.parts(found.payload)))
    except _MISSHAPEN:
        return Read("")


def _joined(first: Read, others: Sequence[Read]) -> Read:
    """A line that two readers understand alike is one sign."""
    observations = {(one.fault, one.component, one.line): one for read in (first, *others) for one in read.observations}
    checks = [check for read in (first, *others) for check in read.checks]
    parts = [part for read in (first, *others) for part in read.parts]
    if not others:
        return first
    return replace(first, observations=list(observations.values()), checks=checks, parts=parts)


def _unread(part: Part, reason: str, kind: str = "unknown") -> Read:
    return Read(kind, checks=[Check(part.name, (), "could_not_check", reason)])


def _text(
    part: Part, form: Format, found: Detected, observations: Sequence[Observation], unread: Sequence[Check]
) -> Read:
    """Lines without any prefix: a pasted log if something in it is known, else nothing that we can vouch for."""
    if not observations:
        return _unread(part, "format not recognised")
    return Read("log", observations, _checks(part, form, found, unread))


def _checks(part: Part, form: Format, found: Detected, unread: Sequence[Check]) -> list[Check]:
    gaps = [*form.gaps(found.payload), *unread]
    if form.unread:
        gaps.append(Check(part.name, (), "could_not_check", form.unread))
    unseen = {family for gap in gaps for family in gap.families}
    families = tuple(family for family in form.families() if family not in unseen)
    return [Check(_name(form, part), families, "clean"), *gaps] if families else gaps


def _name(form: Format, part: Part) -> str:
    return f"{form.name} ({part.name})"


def _shifted(found: Read, piece: sections.Section) -> Read:
    """Lines counted in the whole file, and the host of the prompt where the lines name none."""
    found = replace(found, command=piece.command)
    if piece.part.first_line == 1 and not piece.node:
        return found
    observations = [
        replace(
            one, line=EvidenceLine(_in_file(one.line.number, piece) if one.line.number else 0, one.line.text),
            order=_in_file(one.order, piece), node=one.node or piece.node,
        )
        for one in found.observations
    ]  # fmt: skip
    return replace(found, observations=observations, node=piece.node)


def _in_file(number: int, piece: sections.Section) -> int:
    if 0 < number <= len(piece.numbers):
        number = piece.numbers[number - 1]
    return number + piece.part.first_line - 1
