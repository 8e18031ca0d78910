"""What there is to read of runs, evidence and findings. The rights of the reader are part of the query."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from diagnostics.models import DiagnosticRun, Evidence, Finding, FindingVerdict, ProbeResult
from diagnostics.probes.table import PROBES
from incidents.domain.hardware import PartFacts
from incidents.models import Incident, Node, User
from incidents.queries import incidents_for, nodes_for

AUTOMATIC = Q(requested_by=None, purpose__in=(DiagnosticRun.Purpose.TRIAGE, DiagnosticRun.Purpose.VERIFY))
RUNS_PER_RACK = 20
RUNS_PER_FLEET = 100


# --- whose it is -------------------------------------------------------------------------------------------------------------


def _visible(user: User) -> Q:
    """What hangs on an incident follows the incident; the rest follows the node."""
    return Q(incident__in=incidents_for(user).values("pk").order_by()) | Q(
        incident=None, node__in=nodes_for(user).values("pk").order_by()
    )


def runs_for(user: User) -> QuerySet[DiagnosticRun]:
    runs = DiagnosticRun.objects.filter(_visible(user)).select_related("node", "incident", "requested_by")
    return runs.prefetch_related("probes")


def findings_for(user: User) -> QuerySet[Finding]:
    return _with_all(Finding.objects.filter(_visible(user)))


def evidence_for(user: User) -> QuerySet[Evidence]:
    return Evidence.objects.filter(_visible(user)).select_related("purge", "uploaded_by", "node", "incident")


# --- pages of an incident ----------------------------------------------------------------------------------------------------


def _of(incident: Incident) -> Q:
    """What hangs on the incident, or on one that was merged into it."""
    return Q(incident=incident) | Q(incident__merged_into=incident)


def _with_all(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    verdicts = Prefetch("verdicts", FindingVerdict.objects.select_related("by").order_by("-at", "-id"))
    deeper = Prefetch("consequences", Finding.objects.select_related("evidence").order_by("id"))
    followers = Prefetch(
        "consequences", Finding.objects.select_related("evidence").prefetch_related(deeper).order_by("id")
    )
    return findings.select_related("run", "node", "part", "evidence", "incident").prefetch_related(verdicts, followers)


def runs_of(incident: Incident) -> QuerySet[DiagnosticRun]:
    """Newest first, each with its probes."""
    runs = DiagnosticRun.objects.filter(_of(incident)).select_related("node", "requested_by").prefetch_related("probes")
    return runs.order_by("-id")


def findings_of(incident: Incident) -> QuerySet[Finding]:
    """Roots of the newest run first, the worst first, then notes; each with its `consequences` and its `verdicts`, newest first."""
    found = Finding.objects.filter(_of(incident), parent=None)
    return _with_all(found).order_by("-root", "-run_id", "severity", "id")


def latest_findings(incident: Incident) -> list[Finding]:
    """The same, but what several runs found is shown once, from the newest."""
    newest: dict[tuple[str, str], Finding] = {}
    for finding in findings_of(incident):
        newest.setdefault((finding.fault, finding.component), finding)
    return list(newest.values())


def evidence_of(incident: Incident) -> QuerySet[Evidence]:
    rows = Evidence.objects.filter(_of(incident)).select_related("purge", "uploaded_by", "run")
    return rows.annotate(found=Count("findings", filter=Q(findings__root=True))).order_by("-id")


def live_version_of(incident: Incident) -> str:
    """Changes with every answer of a probe of the incident's unfinished runs; what is finished counts in `incident.version`."""
    probes = ProbeResult.objects.filter(run__incident=incident, run__state__in=DiagnosticRun.UNFINISHED)
    rows = probes.values_list("run", "run__state", "state").annotate(n=Count("pk"), attempts=Sum("attempts")).order_by()
    return ".".join(f"{run}{state[0]}{probe[0]}{n}{attempts}" for run, state, probe, n, attempts in sorted(rows))


@dataclass(frozen=True)
class ProbeLine:
    """A row of the progress of a run. `state` is waiting, running or done; `outcome` is empty until it is known."""

    probe: str
    title: str
    state: str
    outcome: str
    reason: str
    attempts: int
    started_at: datetime | None
    finished_at: datetime | None
    covers: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """How far a run is; `is_live` until it is finished or cancelled. `version` changes whenever something about the run does."""

    run: DiagnosticRun
    lines: tuple[ProbeLine, ...]
    done: int
    total: int
    is_live: bool
    version: str


def run_progress(run: DiagnosticRun) -> Progress:
    """Uses the prefetched probes of the run if they are there."""
    lines = tuple(_line(row) for row in run.probes.all())
    done = sum(line.state == ProbeResult.State.DONE for line in lines)
    running = sum(line.state == ProbeResult.State.RUNNING for line in lines)
    version = f"{run.pk}-{run.state}-{running}-{done}-{sum(line.attempts for line in lines)}"
    return Progress(run, lines, done, len(lines), not run.is_finished, version)


def _line(row: ProbeResult) -> ProbeLine:
    spec = PROBES.get(row.probe)
    title, covers = (spec.title, spec.families) if spec else (row.probe, ())
    return ProbeLine(
        row.probe, title, row.state, row.outcome, row.reason, row.attempts, row.started_at, row.finished_at, covers
    )


# --- what the actions ask ----------------------------------------------------------------------------------------------------


def newest_run(*, incident: Incident | None, node: Node | None, purpose: str) -> DiagnosticRun:
    """The one that keeps another from being started; it may have finished in this very moment."""
    subject = Q(incident=incident) if incident else Q(incident=None, node=node)
    return DiagnosticRun.objects.filter(subject, purpose=purpose).latest("id")


def unfinished_verifications(incident: Incident, *, before: datetime | None) -> QuerySet[DiagnosticRun]:
    runs = DiagnosticRun.objects.filter(
        incident=incident, purpose=DiagnosticRun.Purpose.VERIFY, state__in=DiagnosticRun.UNFINISHED
    )
    return runs.filter(created_at__lt=before) if before else runs.none()


def evidence_to_judge(run: DiagnosticRun) -> list[Evidence]:
    """The newest piece of each name: a probe that was run twice speaks once."""
    newest = {(row.probe, row.name): row for row in run.evidence.select_related("purge").order_by("id")}
    return list(newest.values())


def parts_by_name(node: Node | None) -> dict[str, int]:
    """Slot, UUID and PCI address of what is in the node now -> the part."""
    if node is None:
        return {}
    rows = node.parts.filter(removed_at=None).values_list("pk", "kind", "slot", "uuid", "pci_address")
    return {name: pk for pk, *names in rows for name in _names(*names) if name}


def hardware_of(node: Node | None) -> tuple[PartFacts, ...]:
    """What is in the node now, as the engine takes it: it names a board that answers no more."""
    if node is None:
        return ()
    fields = ("kind", "slot", "model", "serial", "uuid", "pci_address", "attributes")
    return tuple(PartFacts(**row) for row in node.parts.filter(removed_at=None).values(*fields))


def _names(kind: str, slot: str, uuid: str, pci: str) -> tuple[str, ...]:
    return (f"gpu {slot}" if kind == "gpu" else slot.lower(), uuid.lower(), pci_key(pci))


def part_named(parts: dict[str, int], component: str | None) -> int | None:
    name = (component or "").lower()
    return parts.get(name) or parts.get(pci_key(name)) if name else None


def pci_key(address: str) -> str:
    """`00000000:91:00.0`, `0000:91:00.0` and `0000:91:00` are one board."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain[-4:]}:{rest.split('.')[0]}" if rest else ""


@dataclass
class Budget:
    """How many automatic runs are under way, per rack and in the fleet; `takes` counts those that it lets start."""

    racks: Counter[int | None] = field(default_factory=Counter)
    started: set[int] = field(default_factory=set)

    @classmethod
    def now(cls) -> "Budget":
        rung = ProbeResult.objects.filter(run=OuterRef("pk"), rung_at__isnull=False)
        unfinished = DiagnosticRun.objects.filter(AUTOMATIC, state__in=DiagnosticRun.UNFINISHED)
        begun = unfinished.filter(~Q(state=DiagnosticRun.State.WAITING) | Exists(rung)).values_list(
            "pk", F("node__rack")
        )
        rows = list(begun)
        return cls(Counter(rack for _pk, rack in rows), {pk for pk, _rack in rows})

    def takes(self, run: DiagnosticRun) -> bool:
        if not run.is_automatic or run.pk in self.started:
            return True
        rack = run.node.rack_id if run.node else None
        if len(self.started) >= RUNS_PER_FLEET or (rack is not None and self.racks[rack] >= RUNS_PER_RACK):
            return False
        self.racks[rack] += 1
        self.started.add(run.pk)
        return True


def within_budget(run: DiagnosticRun) -> bool:
    """Whether it may begin at once."""
    return Budget.now().takes(run)


# --- does the run prove the repair? ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """One probe of the run. `covers`: it can speak for the family of the fault."""

    probe: str
    covers: bool
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class Proof:
    """Whether the repair is proved, and in words why or why not. `passed` is None where it could not be checked."""

    passed: bool | None
    reason: str


def _shown(run: DiagnosticRun, family: str) -> list[tuple[str, str]]:
    """Faults of the family in this run, roots and what was folded under others; notes are history."""
    there = run.findings.filter(Q(root=True) | Q(parent__isnull=False), family=family)
    return list(there.values_list("fault", "component"))


def proof(run: DiagnosticRun, family: str) -> Proof:
    answers = [Answer(row.probe, _covers(row.probe, family), row.outcome, row.reason) for row in run.probes.all()]
    roots = _shown(run, family)
    gaps = [row["reason"] for row in run.summary.get("could_not_check", ()) if family in row["families"]]
    result = judge_proof(family, answers, roots, gaps, has_gpus=_has_gpus(run.node))
    return replace(result, reason=result.reason + _asked_by(run))


def _asked_by(run: DiagnosticRun) -> str:
    """The answer is recorded by Sickbay, so it tells who wanted it."""
    return " " + _("Asked by %(name)s.") % {"name": run.requested_by_name} if run.requested_by_id else ""


def proof_of_upload(run: DiagnosticRun, family: str) -> Proof:
    """What evidence that somebody gave says of the repair; a file that does not speak of the family says nothing."""
    roots = _shown(run, family)
    if roots:
        return Proof(False, _("The fault is still there: %(faults)s.") % {"faults": _in_words(roots)} + _asked_by(run))
    gaps = [row["reason"] for row in run.summary.get("could_not_check", ()) if family in row["families"]]
    spoke = [row["name"] for row in run.summary.get("checked", ()) if family in row["families"]]
    if gaps or not spoke:
        return Proof(None, _("The evidence does not speak of %(family)s.") % {"family": family})
    words = {"family": family, "files": ", ".join(spoke), "name": run.requested_by_name}
    return Proof(True, _("Clean for %(family)s: %(files)s, given by %(name)s.") % words)


def _in_words(roots: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{fault} {component}".strip() for fault, component in roots)


def is_unclear(incident: Incident) -> bool:
    """True if a run since the repair could not check, so that evidence given by hand may speak instead."""
    return incident.timeline.filter(
        kind="verification_unclear", at__gte=incident.verifying_at or incident.state_at
    ).exists()


def judge_proof(
    family: str,
    answers: Sequence[Answer],
    roots: Sequence[tuple[str, str]],
    gaps: Sequence[str],
    *,
    has_gpus: bool,
) -> Proof:
    """Proved if a probe that can speak for the family is clean, none found it, and none that should have spoken was silent.

    `roots`: (fault, component) of that family; `gaps`: why a part of it could not be judged. "Not supported" is silence too where
    GPUs are expected.
    """
    asked = [answer for answer in answers if answer.covers]
    silent = [f"{one.probe}: {one.reason or one.outcome}" for one in asked if _is_silent(one.outcome, has_gpus)]
    clean = [answer.probe for answer in asked if answer.outcome == ProbeResult.Outcome.CLEAN]
    if roots:
        return Proof(False, _("The fault is still there: %(faults)s.") % {"faults": _in_words(roots)})
    if silent or gaps:
        words = {"family": family, "why": "; ".join([*silent, *gaps])}
        return Proof(None, _("%(family)s could not be checked: %(why)s") % words)
    # A probe may have found something of another family and still be clean for this one.
    clean += [answer.probe for answer in asked if answer.outcome == ProbeResult.Outcome.FINDINGS]
    if not clean:
        return Proof(None, _("No probe of this run can check %(family)s.") % {"family": family})
    said = _("Clean for %(family)s: %(probes)s.") % {"family": family, "probes": ", ".join(clean)}
    absent = [answer.probe for answer in asked if answer.outcome == ProbeResult.Outcome.NOT_SUPPORTED]
    if absent:
        said += " " + _("Not supported on this node: %(probes)s.") % {"probes": ", ".join(absent)}
    return Proof(True, said)


def _is_silent(outcome: str, has_gpus: bool) -> bool:
    if outcome == ProbeResult.Outcome.NOT_SUPPORTED:
        return has_gpus
    return outcome in ("", ProbeResult.Outcome.COULD_NOT_CHECK)


def _covers(probe: str, family: str) -> bool:
    return probe in PROBES and PROBES[probe].covers(family)


def _has_gpus(node: Node | None) -> bool:
    return bool(node and (node.expected_gpus or node.parts.filter(kind="gpu", removed_at=None).exists()))
