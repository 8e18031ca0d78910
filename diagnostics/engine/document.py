"""The JSON form of diagnoses, `sickbay.findings/1`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.types import CATALOG_VERSION, ENGINE_VERSION, Check, Diagnosis, Finding
from incidents.domain import faults

SCHEMA = "sickbay.findings/1"


def document(diagnoses: Sequence[Diagnosis], *, language: str = "en") -> dict[str, Any]:
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
    if not language.startswith("zh"):
        return finding.detail
    own = next((one for one in catalog.repeats() if finding.detail.endswith(one.detail)), None)
    return finding.detail.removesuffix(own.detail) + own.detail_zh if own else finding.detail


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
