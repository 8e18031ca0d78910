"""The engine's front door: bytes of one node or job in, one diagnosis out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from diagnostics.engine import gpu_count
from diagnostics.engine.catalog.profiles import NOTHING, Profile, used
from diagnostics.engine.document import document
from diagnostics.engine.findings import findings
from diagnostics.engine.identities import Identities
from diagnostics.engine.parsers import log_time
from diagnostics.engine.reading import read
from diagnostics.engine.types import Check, Diagnosis, Finding, Moment, Observation, Part, Verdict
from incidents.domain import faults
from incidents.domain.hardware import PartFacts

# A stamp without a zone may be this far off: it is left out only if it is older in every zone.
_ZONE_DOUBT = timedelta(hours=14)

__all__ = ["Part", "diagnose", "document"]


def diagnose(
    parts: Iterable[Part],
    *,
    path: str,
    since: datetime | None = None,
    live_since: datetime | None = None,
    node: str | None = None,
    is_bundle: bool = False,
    problems: Sequence[Check] = (),
    inventory: Sequence[PartFacts] = (),
    profile: Profile = NOTHING,
) -> Diagnosis:
    """Judges the parts together, as evidence of one node or job.

    `since` (aware) leaves out what carries an earlier time of its own; what carries none stays. What is older than `live_since`
    (aware) is told with its time, as a note: it raises no alarm any more. `node` names the node where the evidence does not.
    `problems` are what the reader of the parts could not read, known when all were read. `inventory`: the parts of the node as they
    were known before, which outlives a lost GPU. `profile`: what the site says of such a node.
    """
    with used(profile):
        return _diagnosed(parts, path, since, live_since, node, is_bundle, problems, inventory)


def _diagnosed(
    parts: Iterable[Part], path: str, since: datetime | None, live_since: datetime | None, node: str | None, is_bundle: bool,
    problems: Sequence[Check], inventory: Sequence[PartFacts],
) -> Diagnosis:  # fmt: skip
    identities = Identities()
    identities.learn(inventory, node)
    seen, checks, reads = [], [], []
    for part in parts:
        for one in read(part):
            identities.learn(one.parts, one.node or node)
            counted = [
                _aged(replace(sign, node=sign.node or node), live_since)
                for sign in one.observations
                if since is None or not _is_older(sign.moment, since)
            ]
            seen += counted
            checks += [_settled(check, counted) for check in one.checks]
            reads.append((one, part.name))
    seen += gpu_count.missing(reads, node)
    checks += problems
    found = findings(seen, identities)
    checked = [check for check in checks if check.status != "could_not_check"]
    gaps = [check for check in checks if check.status == "could_not_check"]
    kind = "bundle" if is_bundle or len(reads) > 1 else (reads[0][0].kind if reads else "unknown")
    return Diagnosis(path, kind, found, tuple(checked), tuple(gaps), _verdict(found, checked, gaps))


def _settled(check: Check, seen: Sequence[Observation]) -> Check:
    """A look that was clean until we asked what it saw."""
    named = {faults.family_of(one.fault) for one in seen if one.role in ("root", "hint")}
    return replace(check, status="findings") if check.status == "clean" and named & set(check.families) else check


def _aged(sign: Observation, live_since: datetime | None) -> Observation:
    return replace(sign, role="note") if live_since and _is_older(sign.moment, live_since) else sign


def _is_older(moment: Moment, since: datetime) -> bool:
    at = moment.at
    if at is None:
        return False
    if not moment.has_year:
        at = log_time.in_the_year_nearest(at, since)
    return at + (timedelta() if moment.zoned else _ZONE_DOUBT) < since


def _verdict(found: Sequence[Finding], checked: Sequence[Check], gaps: Sequence[Check]) -> Verdict:
    worst = next((finding for finding in found if finding.root), None)
    if worst is None:
        is_clean = checked and not any(gap.is_sign for gap in gaps)
        return Verdict("clean" if is_clean else "could_not_check")
    return Verdict("sick", worst.fault, worst.component, worst.node, worst.severity, worst.confidence)
