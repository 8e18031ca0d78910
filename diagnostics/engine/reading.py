"""One piece of evidence: cut into its sections, recognised, judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.engine.judges import logs
from diagnostics.engine.judges.form import Format
from diagnostics.engine.judges.formats import FORMATS
from diagnostics.engine.parsers import sections
from diagnostics.engine.parsers.detect import Detected, detect
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Check, EvidenceLine, Observation, Part
from incidents.domain.hardware import PartFacts

# What reading a document of the right kind in the wrong shape raises; ElementTree's ParseError is a SyntaxError.
_MISSHAPEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, SyntaxError)


@dataclass(frozen=True, slots=True)
class Read:
    """What one piece said. `node` is the host that a prompt named; `parts` are the hardware that the evidence identified."""

    kind: str
    observations: Sequence[Observation] = ()
    checks: Sequence[Check] = ()
    parts: Sequence[PartFacts] = ()
    node: str | None = None


def read(part: Part) -> list[Read]:
    """One for each section. A section of no known kind is passed over where others are known."""
    pieces = sections.split(part)
    found = [_shifted(_read(piece.part), piece) for piece in pieces]
    if len(found) == 1:
        return found
    return [one for one in found if one.kind not in ("unknown", "empty")] or found[:1]


def _read(part: Part) -> Read:
    found = detect(part.data)
    form = FORMATS.get(found.kind)
    if form is None or found.payload is None:
        return _unread(part, found.reason or "format not recognised", found.kind)
    unread: list[Check] = []
    try:
        observations = [seen for judge in form.judges for seen in judge(found.payload, source_name=part.name)]
        if form.has_log and isinstance(found.payload, Log):
            lines, unread = logs.judge([found.payload], source_name=part.name)
            observations += lines
        parts = form.parts(found.payload)
    except _MISSHAPEN as error:
        reason = f"the {form.name} document is not in the form that it should have ({type(error).__name__}: {error})"
        return Read(found.kind, checks=[Check(part.name, form.families(), "could_not_check", reason)])
    if found.kind == "text":
        return _text(part, form, observations)
    return Read(found.kind, observations, _checks(part, form, found, unread), parts)


def _unread(part: Part, reason: str, kind: str = "unknown") -> Read:
    return Read(kind, checks=[Check(part.name, (), "could_not_check", reason)])


def _text(part: Part, form: Format, observations: Sequence[Observation]) -> Read:
    """Lines without any prefix: a pasted log if something in it is known, else nothing that we can vouch for."""
    if not observations:
        return _unread(part, "format not recognised")
    return Read("log", observations, [Check(_name(form, part), form.families(), "clean")])


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
    before = piece.part.first_line - 1
    if not before and not piece.node:
        return found
    observations = [
        replace(
            one, line=EvidenceLine(one.line.number + before if one.line.number else 0, one.line.text), order=one.order + before,
            node=one.node or piece.node,
        )
        for one in found.observations
    ]  # fmt: skip
    return replace(found, observations=observations, node=piece.node)
