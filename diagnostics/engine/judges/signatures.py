"""Looks for every signature of the catalogue in a log, then weighs repeats and recoveries."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from diagnostics.engine import catalog
from diagnostics.engine.catalog import Signature
from diagnostics.engine.judges import components
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Confidence, EvidenceLine, Observation

_NEARBY_PCI = "0123456789abcdefABCDEF"


class Hit(NamedTuple):
    signature: Signature
    observation: Observation


def judge(log: Log, *, source_name: str) -> list[Observation]:
    hits = list(_hits(log, source_name))
    return [hit.observation for hit in _recovered(_stormed(hits)) if hit.signature.role != "clear"]


def observe(line: LogLine, *, fault: str, source_name: str, **more: object) -> Observation:
    """An observation with all that a log line tells about itself."""
    confidence: Confidence = "high" if line.prefixed and line.kernel is not None else "medium"
    made = Observation(
        fault, EvidenceLine(line.number, line.raw), source_name, moment=line.moment, node=line.host, boot=line.boot,
        confidence=confidence, order=line.number,
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def is_kernel(line: LogLine) -> bool:
    """False if another program says it: what an agent quotes is no event of the kernel."""
    return line.kernel is not False


@lru_cache(maxsize=1)
def _by_literal() -> dict[str, tuple[Signature, ...]]:
    table: dict[str, list[Signature]] = defaultdict(list)
    for signature in catalog.signatures():
        for literal in signature.literals:
            table[literal].append(signature)
    return {literal: tuple(found) for literal, found in table.items()}


def _hits(log: Log, source_name: str) -> Iterator[Hit]:
    table = _by_literal()
    for line in log.lines_with(table):
        candidates = dict.fromkeys(s for literal, found in table.items() if literal in line.raw for s in found)
        for signature in candidates:
            if hit := _match(signature, line, log, source_name):
                yield hit


def _match(signature: Signature, line: LogLine, log: Log, source_name: str) -> Hit | None:
    if signature.origin == "kernel":
        match = signature.pattern.match(line.message) if is_kernel(line) else None
    else:
        match = signature.pattern.search(line.message)
    if not match:
        return None
    groups = match.groupdict()
    found = signature.component.format(**groups) if signature.component is not None else components.from_groups(groups)
    if not found and signature.look_back:
        found = _from_lines_before(log, line, signature.look_back)
    role = "note" if signature.role == "clear" else signature.role
    observation = observe(
        line, fault=signature.fault, source_name=source_name, role=role, component=found or None, severity=signature.severity,
        action=signature.action, count=int(groups.get("count") or 1), signature=signature.id,
    )  # fmt: skip
    if signature.confidence:
        observation = replace(observation, confidence=signature.confidence)
    return Hit(signature, observation)


def _from_lines_before(log: Log, line: LogLine, count: int) -> str | None:
    for earlier in log.before(line, count=count):
        for word in earlier.message.replace("(", " ").replace(")", " ").split():
            if (
                word.count(":") >= 2
                and word.lstrip("PCI:")[:1] in _NEARBY_PCI
                and (found := components.pci(word, board=True))
            ):
                return found
    return None


def _stormed(hits: list[Hit]) -> list[Hit]:
    """A sign that was repeated (or says itself how often it happened) may mean another fault; one that was not, less."""
    counts: dict[tuple[str, str | None, str | None], int] = defaultdict(int)
    for signature, seen in hits:
        counts[signature.id, seen.component, seen.node] += seen.count
    return [_weigh(hit, counts[hit.signature.id, hit.observation.component, hit.observation.node]) for hit in hits]


def _weigh(hit: Hit, count: int) -> Hit:
    storm = hit.signature.storm
    if not storm:
        return hit
    if count >= storm.at:
        return hit._replace(observation=replace(hit.observation, fault=storm.fault)) if storm.fault else hit
    return hit if storm.fault else hit._replace(observation=replace(hit.observation, role="note"))


def _recovered(hits: list[Hit]) -> list[Hit]:
    """What a later line takes back stays as a note: it happened, but it is over."""
    settled = list(hits)
    for at, (signature, clear) in enumerate(hits):
        if signature.role == "clear":
            settled[:at] = _take_back(settled[:at], signature.clears, clear.component)
    return settled


def _take_back(hits: Iterable[Hit], cleared: tuple[str, ...], component: str | None) -> list[Hit]:
    def over(hit: Hit) -> bool:
        seen = hit.observation
        return (seen.fault in cleared or seen.signature in cleared) and (
            component is None or seen.component is None or seen.component == component
        )

    return [hit._replace(observation=replace(hit.observation, role="note")) if over(hit) else hit for hit in hits]
