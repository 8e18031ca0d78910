"""One piece of evidence: cut into its sections, recognised, judged."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnostics.engine import intake
from diagnostics.engine.judges import logs
from diagnostics.engine.judges.form import Format
from diagnostics.engine.judges.formats import form_of
from diagnostics.engine.looks import Read, settled
from diagnostics.engine.parsers import quoting, sections
from diagnostics.engine.parsers.detect import Detected
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import MISSHAPEN, Check, EvidenceLine, Observation, Part
from incidents.domain.hardware import PartFacts


def read(part: Part) -> list[Read]:
    """One for each section, and for each host that it is of. A section of no known kind is passed over where others are known."""
    try:
        held, gaps = intake.hold(part)
        pieces = sections.split(quoting.without(held))
    except MISSHAPEN as error:
        return [_unread(part, _unreadable(error))]
    found = settled([one for piece in pieces.found for one in _of_each_node(_safely(piece.part), piece)])
    if len(found) > 1:
        found = [one for one in found if one.kind not in ("unknown", "empty")] or found[:1]
    found[-1] = replace(found[-1], checks=[*found[-1].checks, *gaps, *_left_out(part, pieces.unread_from)])
    return found


def _left_out(part: Part, line: int) -> list[Check]:
    reason = f"it holds too many sections: nothing was read from line {line} on"
    return [Check(part.name, (), "could_not_check", reason)] if line else []


def _safely(part: Part) -> Read:
    """What ends the reading of one piece is a gap of that piece, and no more."""
    try:
        return _read(part)
    except MISSHAPEN as error:
        return _unread(part, _unreadable(error))


def _unreadable(error: Exception) -> str:
    return f"it cannot be read ({type(error).__name__}: {error})"


def _read(part: Part) -> Read:
    found = intake.recognise(part)
    form = form_of(found.kind)
    if form is None or found.payload is None:
        return _unread(part, found.reason or "format not recognised", found.kind)
    lines, gaps = _lines(part, form, found)
    first = _judged(part, form, found, gaps)
    first = replace(
        first,
        observations=[*first.observations, *lines.observations],
        parts=[*lines.parts, *first.parts],
        clears=lines.clears,
    )
    if found.kind == "text":
        return _text(part, first)
    return _joined(first, [_judged(part, also, found) for kind in found.also if (also := form_of(kind))])


def _lines(part: Part, form: Format, found: Detected) -> tuple[logs.LogSigns, list[Check]]:
    """What the lines of a system log say, which may stand in other outputs too."""
    if not form.has_log or not isinstance(found.payload, Log):
        return logs.NOTHING, []
    windows = intake.windows(part, found.payload)
    lines = logs.judge(windows, source_name=part.name)
    return lines, [*lines.gaps, *intake.gaps(part, windows)]


def _judged(part: Part, form: Format, found: Detected, unread: Sequence[Check] = ()) -> Read:
    """What the judges of this form say. One that the document is too odd for is a gap, and hides nothing of what the others say."""
    observations: list[Observation] = []
    gaps: list[Check] = []
    parts: list[PartFacts] = []
    for judge in form.judges:
        try:
            observations += judge(found.payload, source_name=part.name)
        except MISSHAPEN as error:
            gaps.append(_misshapen(part, form, error))
    try:
        gaps += form.gaps(found.payload)
        parts += form.parts(found.payload)
    except MISSHAPEN as error:
        gaps.append(_misshapen(part, form, error))
    return Read(found.kind, observations, _checks(part, form, [*gaps, *unread]), parts)


def _misshapen(part: Part, form: Format, error: Exception) -> Check:
    reason = f"the {form.name} document is not in the form that it should have ({type(error).__name__}: {error})"
    return Check(part.name, form.families(), "could_not_check", reason)


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


def _text(part: Part, found: Read) -> Read:
    """Lines without any prefix: a pasted log if something in it is known, else nothing that we can vouch for."""
    if found.observations:
        return replace(found, kind="log")
    gaps = [check for check in found.checks if check.status == "could_not_check"]
    return replace(found, kind="unknown", checks=[*_unread(part, "format not recognised").checks, *gaps])


def _checks(part: Part, form: Format, gaps: list[Check]) -> list[Check]:
    if form.unread:
        gaps.append(Check(part.name, (), "could_not_check", form.unread))
    unseen = {family for gap in gaps for family in gap.families}
    families = tuple(family for family in form.families() if family not in unseen)
    return [Check(_name(form, part), families, "clean"), *gaps] if families else gaps


def _name(form: Format, part: Part) -> str:
    return f"{form.name} ({part.name})"


def _of_each_node(found: Read, piece: sections.Section) -> Iterator[Read]:
    """Lines counted in the whole file, and the hosts of the border where the lines name none: judged once, told of each."""
    found = replace(
        found,
        command=piece.command,
        observations=[_in_file(one, piece) for one in found.observations],
        checks=[_of_section(check, piece.part.first_line) for check in found.checks],
        parts=[_part_in_file(part, piece) for part in found.parts],
    )
    if not piece.nodes:
        yield found
    for node in piece.nodes:
        yield replace(
            found, node=node, observations=[replace(one, node=one.node or node) for one in found.observations]
        )


def _of_section(check: Check, first_line: int) -> Check:
    """A reason counts the lines of its section."""
    if first_line == 1 or check.status != "could_not_check":
        return check
    return replace(check, reason=f"in the section from line {first_line} on: {check.reason}")


def _in_file(one: Observation, piece: sections.Section) -> Observation:
    if piece.part.first_line == 1 and not piece.numbers:
        return one
    number = _number_in_file(one.line.number, piece) if one.line.number else 0
    return replace(one, line=EvidenceLine(number, one.line.text), order=_number_in_file(one.order, piece))


def _part_in_file(part: PartFacts, piece: sections.Section) -> PartFacts:
    if not part.attributes.get("line"):
        return part
    return replace(part, attributes={**part.attributes, "line": _number_in_file(int(part.attributes["line"]), piece)})


def _number_in_file(number: int, piece: sections.Section) -> int:
    if 0 < number <= len(piece.numbers):
        number = piece.numbers[number - 1]
    return number + piece.part.first_line - 1
