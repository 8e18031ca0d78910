"""The engine's front door: bytes of one node or job in, one diagnosis out."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from diagnostics.engine import chains
from diagnostics.engine.judges import logs
from diagnostics.engine.judges.form import Format
from diagnostics.engine.judges.formats import FORMATS
from diagnostics.engine.parsers.detect import Detected, detect
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import (
    CATALOG_VERSION,
    ENGINE_VERSION,
    Check,
    Diagnosis,
    Finding,
    Moment,
    Observation,
    Part,
    Verdict,
)
from incidents.domain import faults

SCHEMA = "sickbay.findings/1"
# A stamp without a zone may be this far off: it is left out only if it is older in every zone.
_ZONE_DOUBT = timedelta(hours=14)

# What reading a document of the right kind in the wrong shape raises; ElementTree's ParseError is a SyntaxError.
_MISSHAPEN = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, SyntaxError)

__all__ = ["Part", "diagnose", "document"]


def diagnose(
    parts: Sequence[Part],
    *,
    path: str,
    since: datetime | None = None,
    node: str | None = None,
    is_bundle: bool = False,
    problems: Sequence[Check] = (),
) -> Diagnosis:
    """Judges the parts together, as evidence of one node or job.

    `since` (aware) leaves out what carries an earlier time of its own; what carries none stays. `node` names the node where the
    evidence does not. `problems` are what the reader of the parts could not read.
    """
    judged = [_judge(part) for part in parts]
    seen = [
        one
        for observations, _, _ in judged
        for one in observations
        if since is None or not _is_older(one.moment, since)
    ]
    found = chains.findings([replace(one, node=one.node or node) for one in seen])
    checks = [check for _, made, _ in judged for check in made]
    checked = [_settled(check, seen) for check in checks if check.status != "could_not_check"]
    gaps = [check for check in checks if check.status == "could_not_check"] + list(problems)
    kinds = [kind for _, _, kind in judged]
    kind = "bundle" if is_bundle or len(kinds) > 1 else (kinds[0] if kinds else "unknown")
    return Diagnosis(path, kind, found, tuple(checked), tuple(gaps), _verdict(found, checked))


def document(diagnoses: Sequence[Diagnosis], *, language: str = "en") -> dict[str, Any]:
    """The JSON form, `sickbay.findings/1`."""
    files = [
        {
            "path": one.path,
            "kind": one.kind,
            "findings": [_finding_form(finding, language) for finding in one.findings],
            "checked": [_check_form(check) for check in one.checked],
            "could_not_check": [_check_form(check) for check in one.could_not_check],
            "verdict": asdict(one.verdict),
        }
        for one in diagnoses
    ]
    return {"schema": SCHEMA, "engine": ENGINE_VERSION, "catalog": CATALOG_VERSION, "files": files}


def _check_form(check: Check) -> dict[str, Any]:
    return asdict(check) | {"families": list(check.families)}


def _judge(part: Part) -> tuple[list[Observation], list[Check], str]:
    found = detect(part.data)
    form = FORMATS.get(found.kind)
    if form is None or found.payload is None:
        reason = found.reason or "format not recognised"
        return [], [Check(part.name, (), "could_not_check", reason)], found.kind
    unread: list[Check] = []
    try:
        observations = [seen for judge in form.judges for seen in judge(found.payload, source_name=part.name)]
        if form.has_log and isinstance(found.payload, Log):
            lines, unread = logs.judge([found.payload], source_name=part.name)
            observations += lines
    except _MISSHAPEN as error:
        reason = f"the {form.name} document is not in the form that it should have ({type(error).__name__}: {error})"
        return [], [Check(part.name, form.families(), "could_not_check", reason)], found.kind
    if found.kind == "text":
        return _judged_text(part, form, observations)
    return observations, _checks(part, form, found, unread), found.kind


def _judged_text(
    part: Part, form: Format, observations: list[Observation]
) -> tuple[list[Observation], list[Check], str]:
    """Lines without any prefix: a pasted log if something in it is known, else nothing that we can vouch for."""
    if observations:
        return observations, [Check(_check_name(form, part), form.families(), "clean")], "log"
    return [], [Check(part.name, (), "could_not_check", "format not recognised")], "unknown"


def _checks(part: Part, form: Format, found: Detected, unread: list[Check]) -> list[Check]:
    gaps = [*form.gaps(found.payload), *unread]
    if form.unread:
        gaps = [*gaps, Check(part.name, (), "could_not_check", form.unread)]
    unseen = {family for gap in gaps for family in gap.families}
    families = tuple(family for family in form.families() if family not in unseen)
    return [Check(_check_name(form, part), families, "clean"), *gaps] if families else gaps


def _check_name(form: Format, part: Part) -> str:
    return f"{form.name} ({part.name})"


def _settled(check: Check, seen: Sequence[Observation]) -> Check:
    """A look that was clean until we asked what it saw."""
    named = {
        faults.family_of(one.fault)
        for one in seen
        if one.role == "root" and check.name.endswith(f"({one.source_name})")
    }
    return replace(check, status="findings") if named & set(check.families) else check


def _is_older(moment: Moment, since: datetime) -> bool:
    at = moment.at
    if at is None:
        return False
    if not moment.has_year:
        at = _in_the_year_nearest(at, since)
    return at + (timedelta() if moment.zoned else _ZONE_DOUBT) < since


def _in_the_year_nearest(at: datetime, since: datetime) -> datetime:
    """A stamp without its year is taken as the one closest to `since`; 29 February of no leap year as the day before."""
    choices = []
    for year in (since.year - 1, since.year, since.year + 1):
        try:
            choices.append(at.replace(year=year))
        except ValueError:
            choices.append(at.replace(year=year, day=28))
    return min(choices, key=lambda choice: abs(choice - since))


def _verdict(found: Sequence[Finding], checked: Sequence[Check]) -> Verdict:
    worst = next((finding for finding in found if finding.root), None)
    if worst is None:
        return Verdict("clean" if checked else "could_not_check")
    return Verdict("sick", worst.fault, worst.component, worst.node, worst.severity, worst.confidence)


def _finding_form(finding: Finding, language: str) -> dict[str, Any]:
    form = {name: getattr(finding, name) for name in Finding.__dataclass_fields__}
    return form | {
        "title": faults.get(finding.fault).title_in(language),
        "ranks": list(finding.ranks),
        "evidence": [{"number": line.number, "text": line.text} for line in finding.evidence],
        "consequences": [_finding_form(one, language) for one in finding.consequences],
        "first_at": finding.first_at.isoformat() if finding.first_at else None,
        "last_at": finding.last_at.isoformat() if finding.last_at else None,
        "authorities": dict(finding.authorities),
    }
