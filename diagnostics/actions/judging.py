"""Judges the evidence of a run whose probes are done: findings, outcomes, the event, in one transaction and once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from diagnostics import events, queries
from diagnostics.actions import evidence as vault
from diagnostics.actions.runs import note
from diagnostics.engine.catalog.profiles import Profile
from diagnostics.engine.limited import CannotRun, diagnose_limited
from diagnostics.engine.types import CATALOG_VERSION, ENGINE_VERSION, Check, Diagnosis, Part, Verdict
from diagnostics.engine.types import Finding as Found
from diagnostics.models import DiagnosticRun, Evidence, Finding, ProbeResult
from incidents.domain import faults
from incidents.domain.actors import SICKBAY
from incidents.events import announce
from incidents.lib.errors import SickbayError, Unavailable

State, Outcome = DiagnosticRun.State, ProbeResult.Outcome
LEASE = timedelta(minutes=5)
PAUSE = timedelta(minutes=1)
MAX_ATTEMPTS = 3
OLD = timedelta(days=7)  # what evidence tells from so long before the incident is history, no alarm
DIED = f"Judging this evidence ended the worker {MAX_ATTEMPTS} times."
MOST = 2**31 - 1  # a whole number that every database takes
YEARS = range(1970, 2200)  # of a clock that may be believed; beyond, a database or a time zone may refuse it
LONGEST_LINE = 4000  # characters; the evidence has it in full
NOTHING = Verdict("could_not_check")


@dataclass(frozen=True)
class Judged:
    """A diagnosis and the rows that its sources stand for."""

    diagnosis: Diagnosis
    sources: dict[str, Evidence]


def judge(run_id: int, *, at: datetime) -> bool:
    """Claim the run and judge it; False if it is not due, taken or judged already. Called twice, there is one result.

    Raises `Unavailable`, and leaves the run to be judged soon, where this machine has no room for it.
    """
    run = _claim(run_id, at=at)
    if run is None:
        return False
    if run.judge_attempts > MAX_ATTEMPTS:
        return _record(run, _gave_up(run), at=at)
    try:
        result = judged(run)
    except CannotRun as error:
        _give_back(run, at=at)
        raise Unavailable(f"{run}: {error}. It is tried again in a minute.") from error
    return _record(run, result, at=at)


def judged(run: DiagnosticRun) -> Judged:
    """What the engine says of the kept evidence of the run, all of it together. Reads only."""
    sources = {row.name: row for row in queries.evidence_to_judge(run)}
    parts, problems = [], []
    for name, row in sources.items():
        try:
            parts.append(Part(name, vault.read(row)))
        except SickbayError as error:
            problems.append(Check(name, (), "could_not_check", str(error)))
    path = str(run.node or run.incident)
    hostname = run.node.hostname if run.node else None
    live_since = run.incident.impact_started_at - OLD if run.incident else None
    diagnosis = diagnose_limited(
        parts,
        path=path,
        since=run.since,
        live_since=live_since,
        node=hostname,
        problems=problems,
        inventory=queries.hardware_of(run.node),
        profile=Profile(gpus=run.node.expected_gpus if run.node else None),
    )
    return Judged(diagnosis, sources)


def _claim(run_id: int, *, at: datetime) -> DiagnosticRun | None:
    free = Q(judge_lease_until=None) | Q(judge_lease_until__lt=at)
    pending = ProbeResult.objects.filter(run=run_id).exclude(state=ProbeResult.State.DONE)
    if pending.exists():
        return None
    claimed = DiagnosticRun.objects.filter(free, pk=run_id, state__in=DiagnosticRun.UNFINISHED).update(
        state=State.JUDGING, judge_lease_until=at + LEASE, judge_attempts=F("judge_attempts") + 1
    )
    return DiagnosticRun.objects.select_related("node", "incident").get(pk=run_id) if claimed else None


def _give_back(run: DiagnosticRun, *, at: datetime) -> None:
    """Not the evidence failed, so that no attempt is spent."""
    mine = DiagnosticRun.objects.filter(pk=run.pk, state=State.JUDGING, judge_attempts=run.judge_attempts)
    mine.update(judge_lease_until=at + PAUSE, judge_attempts=F("judge_attempts") - 1)


def _gave_up(run: DiagnosticRun) -> Judged:
    sources = {row.name: row for row in queries.evidence_to_judge(run)}
    gaps = tuple(Check(name, (), "could_not_check", DIED) for name in sources)
    return Judged(Diagnosis(str(run.node or run.incident), "unknown", (), (), gaps, NOTHING), sources)


def _record(run: DiagnosticRun, result: Judged, *, at: datetime) -> bool:
    with transaction.atomic():
        mine = DiagnosticRun.objects.filter(pk=run.pk, state=State.JUDGING, judge_attempts=run.judge_attempts)
        if not mine.update(
            state=State.FINISHED,
            finished_at=at,
            judge_lease_until=None,
            engine_version=ENGINE_VERSION,
            catalog_version=CATALOG_VERSION,
        ):
            return False
        outcomes = _settle_probes(run, result)
        _store(run, result)
        summary = _summary(result.diagnosis, outcomes)
        DiagnosticRun.objects.filter(pk=run.pk).update(summary=summary)
        if run.incident:
            told = {name: summary[name] for name in ("probes", "roots", "notes")}
            note(run.incident, "run_finished", by=SICKBAY, at=at, run=run.pk, purpose=run.purpose, **told)
        announce(
            events.RUN_FINISHED, at=at, run=run.pk, purpose=run.purpose, incident=run.incident_id, node=run.node_id
        )
    return True


def _settle_probes(run: DiagnosticRun, result: Judged) -> Counter[str]:
    """Each probe that could read something gets its outcome from what the engine made of it."""
    outcomes: Counter[str] = Counter()
    rows = list(run.probes.all())
    for row in rows:
        if not row.outcome:
            names = [name for name, source in result.sources.items() if source.probe == row.probe]
            row.outcome, reason = _outcome(names, result.diagnosis)
            row.reason = _clean("; ".join(filter(None, (row.reason, reason))), 500)
        outcomes[row.outcome] += 1
    ProbeResult.objects.bulk_update(rows, ["outcome", "reason"])
    return outcomes


def _outcome(names: Sequence[str], diagnosis: Diagnosis) -> tuple[str, str]:
    gaps = [check for check in diagnosis.could_not_check if any(name in check.name for name in names)]
    reason = "; ".join(dict.fromkeys(f"{check.name}: {check.reason}" for check in gaps))
    if any(_speaks(finding, names) for finding in diagnosis.findings if finding.root):
        return Outcome.FINDINGS, reason
    if any(name in check.name for check in diagnosis.checked for name in names):
        return Outcome.CLEAN, reason
    return Outcome.COULD_NOT_CHECK, reason or "There is no evidence."


def _speaks(finding: Found, names: Sequence[str]) -> bool:
    return finding.source_name in names or any(_speaks(one, names) for one in finding.consequences)


def _store(run: DiagnosticRun, result: Judged) -> None:
    """Level by level, so that a consequence knows its root."""
    parts = queries.parts_by_name(run.node)
    level = [(found, None) for found in result.diagnosis.findings]
    while level:
        rows = [_row(run, found, parent, result.sources, parts) for found, parent in level]
        Finding.objects.bulk_create(rows)
        level = [(one, row) for (found, _), row in zip(level, rows, strict=True) for one in found.consequences]  # type: ignore[misc]


def _row(
    run: DiagnosticRun, found: Found, parent: Finding | None, sources: dict[str, Evidence], parts: dict[str, int]
) -> Finding:
    return Finding(
        run=run,
        incident=run.incident,
        node=run.node,
        part_id=queries.part_named(parts, found.component),
        parent=parent,
        evidence=sources.get(found.source_name),
        fault=found.fault,
        family=faults.family_of(found.fault),
        root=found.root and parent is None,
        severity=found.severity,
        component=_clean(found.component or "", 200),
        node_name=_clean(found.node or "", 253),
        rank=found.rank,
        ranks=list(found.ranks),
        title=_clean(found.title, 300),
        detail=_clean(found.detail),
        line=_clean(found.line),
        line_number=min(found.line_number, MOST),
        lines=[{"number": line.number, "text": _clean(line.text)} for line in found.evidence],
        confidence=found.confidence,
        action=_clean(found.action),
        first_at=_moment(found.first_at),
        last_at=_moment(found.last_at),
        count=min(found.count, MOST),
        boot=_clean(found.boot or "", 80),
        injected=found.injected,
        authorities={name: _clean(said, 300) for name, said in found.authorities.items()},
        part_facts={name: _clean(value, 200) for name, value in found.part.items()},
        engine_version=ENGINE_VERSION,
        catalog_version=CATALOG_VERSION,
    )


def _moment(at: datetime | None) -> datetime | None:
    return at if at and at.year in YEARS else None


def _clean(text: str, length: int = LONGEST_LINE) -> str:
    """What every database takes: no NUL, no half of a surrogate pair, and not ten megabytes in one line."""
    return text[:length].replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _summary(diagnosis: Diagnosis, outcomes: Counter[str]) -> dict[str, Any]:
    roots = [found for found in diagnosis.findings if found.root]
    verdict = asdict(diagnosis.verdict)
    return {
        "probes": dict(outcomes),
        "roots": [{"fault": found.fault, "component": _clean(found.component or "", 200)} for found in roots],
        "notes": len(diagnosis.findings) - len(roots),
        "checked": [_gap(check) for check in diagnosis.checked],
        "could_not_check": [_gap(check) for check in diagnosis.could_not_check],
        "verdict": {name: _clean(value) if isinstance(value, str) else value for name, value in verdict.items()},
    }


def _gap(check: Check) -> dict[str, Any]:
    return {"name": _clean(check.name, 200), "families": list(check.families), "reason": _clean(check.reason, 300)}
