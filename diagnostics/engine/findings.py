"""Many signs, few findings: what was said again is counted, what follows from something else lies under it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from diagnostics.engine import catalog, chains, groups, together
from diagnostics.engine.catalog import Repeat
from diagnostics.engine.groups import Group
from diagnostics.engine.identities import Identities
from diagnostics.engine.types import Confidence, EvidenceLine, Finding, Observation, Role
from incidents.domain import faults

MOST_LINES = 20  # of one finding; the first and the last are kept
_CONFIDENCE: tuple[Confidence, ...] = ("low", "medium", "high")


def findings(observations: Sequence[Observation], identities: Identities) -> tuple[Finding, ...]:
    """Roots first, the worst first; then notes."""
    known = [identities.named(seen) for seen in groups.with_node(observations)]
    found = groups.grouped(known)
    _settle_hints(found)
    chains.fold(found)
    tops = groups.merged([group for group in together.shared(found) if group.parent is None])
    made = [_finding(group, identities) for group in tops]
    return tuple(sorted(made, key=lambda finding: (not finding.root, finding.severity)))


def _settle_hints(found: Sequence[Group]) -> None:
    told = {(group.node, faults.family_of(group.fault)) for group in found if group.is_root}
    for group in found:
        role: Role = "note" if (group.node, faults.family_of(group.fault)) in told else "root"
        group.seen = [replace(seen, role=role) if seen.role == "hint" else seen for seen in group.seen]


def _finding(group: Group, identities: Identities) -> Finding:
    fault = faults.get(group.fault)
    proof = _proof(group.seen)
    followers = groups.merged(chains.descendants(group)) if group.parent is None else []
    times = [seen.moment.at for seen in group.seen if seen.moment.at and seen.moment.has_year]
    repeat = _repeat(group)
    return Finding(
        fault=fault.code,
        root=group.is_root and group.parent is None,
        severity=proof.severity or fault.severity,
        component=group.component,
        rank=None,
        ranks=(),
        node=group.node,
        title=fault.title,
        line=proof.line.text,
        line_number=proof.line.number,
        evidence=_evidence(group.seen),
        confidence=max((seen.confidence for seen in group.seen), key=_CONFIDENCE.index),
        consequences=tuple(_finding(child, identities) for child in followers),
        action=repeat.action if repeat else _action(proof, fault.first_action, followers),
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        count=_count(group.seen),
        source_name=proof.source_name,
        detail=f"{proof.detail}; {repeat.detail}".removeprefix("; ") if repeat else proof.detail,
        authorities={name: said for seen in reversed(group.seen) for name, said in seen.authorities.items()},
        part=identities.facts_of(group.component, group.node),
        boot=group.seen[-1].boot,
        injected=all(seen.injected for seen in group.seen),
    )


def _proof(seen: Sequence[Observation]) -> Observation:
    """The surest sign, and of those the first."""
    roots = [one for one in seen if one.role == "root"] or seen
    return max(roots, key=lambda one: _CONFIDENCE.index(one.confidence))


def _repeat(group: Group) -> Repeat | None:
    """What it means that different processes had this trouble at one part."""
    if not group.component:
        return None
    subjects = {seen.subject for seen in group.seen if seen.subject}
    return next((one for one in catalog.repeats() if group.fault in one.faults and len(subjects) >= one.subjects), None)


def _count(seen: Sequence[Observation]) -> int:
    """How often it happened: one event may print two kinds of lines, so the commoner kind is counted."""
    counts: Counter[str] = Counter()
    for one in seen:
        counts[one.signature] += one.count
    return max(counts.values())


def _action(proof: Observation, first_action: str, followers: Sequence[Group]) -> str:
    """The driver's own recommendation comes before our table: it knows the board."""
    advice = proof.action or next(
        (seen.action for group in followers for seen in reversed(group.seen) if seen.action), None
    )
    return f"{advice}; {first_action}" if advice else first_action


def _evidence(seen: Sequence[Observation]) -> tuple[EvidenceLine, ...]:
    lines = list(dict.fromkeys(one.line for one in seen))
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    return tuple(lines[: MOST_LINES // 2] + lines[-MOST_LINES // 2 :])
