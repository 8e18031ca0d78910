"""The JSON form of diagnoses, `sickbay.findings/1`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.catalog import phrases
from diagnostics.engine.types import CATALOG_VERSION, ENGINE_VERSION, Check, Diagnosis, Finding
from incidents.domain import faults

SCHEMA = "sickbay.findings/1"


def document(diagnoses: Sequence[Diagnosis], *, language: str = "en") -> dict[str, Any]:
    files = [
        {
            "path": one.path,
            "kind": one.kind,
            "findings": [_finding_form(finding, language) for finding in one.findings],
            "checked": [_check_form(check, language) for check in one.checked],
            "could_not_check": [_check_form(check, language) for check in one.could_not_check],
            "verdict": asdict(one.verdict),
        }
        for one in diagnoses
    ]
    return {"schema": SCHEMA, "engine": ENGINE_VERSION, "catalog": CATALOG_VERSION, "files": files}


def _check_form(check: Check, language: str) -> dict[str, Any]:
    told = {"name": told_in(check.name, language), "reason": told_in(check.reason, language)}
    return told | {"status": check.status, "families": list(check.families)}


def action_in(finding: Finding, language: str) -> str:
    """What to do first, in the language; what a driver itself advises stays as it printed it."""
    fault, text = faults.get(finding.fault), finding.action
    if not language.startswith("zh"):
        return text
    for own, translated in (
        (fault.first_action, fault.first_action_zh),
        *((one.action, one.action_zh) for one in catalog.repeats()),
    ):
        if text.endswith(own):
            return text.removesuffix(own) + translated
    return text


def detail_in(finding: Finding, language: str) -> str:
    return told_in(finding.detail, language)


def told_in(text: str, language: str) -> str:
    """What the engine says of a finding or of what it could not check; the words of a device stay as it printed them."""
    return phrases.in_chinese(text) if language.lower().startswith("zh") else text


def _finding_form(finding: Finding, language: str) -> dict[str, Any]:
    form = {name: getattr(finding, name) for name in Finding.__dataclass_fields__}
    return form | {
        "title": faults.get(finding.fault).title_in(language),
        "action": action_in(finding, language),
        "detail": detail_in(finding, language),
        "ranks": list(finding.ranks),
        "evidence": [{"number": line.number, "text": line.text} for line in finding.evidence],
        "consequences": [_finding_form(one, language) for one in finding.consequences],
        "first_at": finding.first_at.isoformat() if finding.first_at else None,
        "last_at": finding.last_at.isoformat() if finding.last_at else None,
        "authorities": dict(finding.authorities),
        "part": dict(finding.part),
    }
