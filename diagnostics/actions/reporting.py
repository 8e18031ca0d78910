"""The findings document of runs: what the engine said, and how each probe went."""

from dataclasses import replace
from typing import Any

from diagnostics.actions.judging import judged
from diagnostics.engine import diagnose as engine
from diagnostics.engine.types import Check, Diagnosis
from diagnostics.models import DiagnosticRun, ProbeResult
from diagnostics.probes.table import PROBES

Outcome = ProbeResult.Outcome
LOOKED = (Outcome.CLEAN, Outcome.FINDINGS)


def report(run: DiagnosticRun) -> Diagnosis:
    """The diagnosis of the run with its probes as the checks."""
    diagnosis = judged(run).diagnosis
    checks = [_check(row) for row in run.probes.all()]
    gaps = [check for check in diagnosis.could_not_check if check.families]
    return replace(
        diagnosis,
        path=run.node.hostname if run.node else diagnosis.path,
        kind="node",
        checked=tuple(check for check in checks if check.status != "could_not_check"),
        could_not_check=(*(check for check in checks if check.status == "could_not_check"), *gaps),
    )


def document(reports: list[Diagnosis], *, language: str = "en") -> dict[str, Any]:
    return engine.document(reports, language=language)


def text(reports: list[Diagnosis], *, language: str = "en") -> str:
    """For people: a few lines per node."""
    return "\n".join(line for report in document(reports, language=language)["files"] for line in _lines(report))


def _lines(report: dict[str, Any]) -> list[str]:
    found = [line for finding in report["findings"] for line in _finding_lines(finding)]
    clean = ", ".join(check["name"] for check in report["checked"]) or "nothing"
    gaps = [f"  not checked  {check['name']}: {check['reason']}" for check in report["could_not_check"]]
    return [report["path"], *(found or ["  no findings"]), f"  checked      {clean}", *gaps]


def _finding_lines(finding: dict[str, Any]) -> list[str]:
    mark = finding["severity"] if finding["root"] else "note"
    lines = [f"  {mark:<5} {finding['fault']} {finding['component'] or ''}  {finding['title']}".rstrip()]
    if finding["line"]:
        lines.append(f"        line {finding['line_number']}: {finding['line'].strip()[:200]}")
    if finding["root"] and finding["action"]:
        lines.append(f"        do: {finding['action']}")
    return lines


def _check(row: ProbeResult) -> Check:
    families = PROBES[row.probe].families if row.probe in PROBES else ()
    if row.outcome in LOOKED:
        status = "findings" if row.outcome == Outcome.FINDINGS else "clean"
        return Check(row.probe, families, status, row.reason)  # type: ignore[arg-type]
    words = "not supported: " if row.outcome == Outcome.NOT_SUPPORTED else ""
    return Check(row.probe, families, "could_not_check", words + row.reason)
