"""Looks for every signature of the catalogue in the lines of a log."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from diagnostics.engine import catalog, components
from diagnostics.engine.catalog import Signature, units
from diagnostics.engine.judges import bmc_names
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import EvidenceLine, Observation

_NEARBY_PCI = re.compile(
    r"(?:PCI:|pci/)?[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}"
)  # with its domain, lest a time of day pass for one
_STRETCH = 1024  # characters of a message that a pattern looks at together; the kernel prints no more in one
_OVERLAP = 384


class Signatures:
    """The judge of the catalogue; one for each source."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name

    @staticmethod
    def literals() -> tuple[str, ...]:
        return tuple(_by_literal())

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        """The signatures that this line shows; `found` are the literals that it holds."""
        for signature in _holding(found):
            if hit := _match(signature, line, log, self._source_name):
                yield hit


def observe(line: LogLine, *, fault: str, source_name: str, **more: object) -> Observation:
    """An observation with all that a log line tells about itself."""
    more.setdefault("confidence", "high" if line.prefixed and line.kernel is not None else "medium")
    return Observation(
        fault, EvidenceLine(line.number, line.raw), source_name, moment=line.moment, node=line.host, boot=line.boot,
        order=line.number, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def is_kernel(line: LogLine) -> bool:
    """False if another program says it: what an agent quotes is no event of the kernel."""
    return line.kernel is not False


@lru_cache(maxsize=4096)
def _holding(found: tuple[str, ...]) -> tuple[Signature, ...]:
    """The signatures of these literals; the lines of a log hold the same few again and again."""
    table = _by_literal()
    return tuple({signature.id: signature for literal in found for signature in table.get(literal, ())}.values())


@lru_cache(maxsize=1)
def _by_literal() -> dict[str, tuple[Signature, ...]]:
    table: dict[str, list[Signature]] = defaultdict(list)
    for signature in catalog.signatures():
        for literal in signature.literals:
            table[literal].append(signature)
    return {literal: tuple(found) for literal, found in table.items()}


def shown_by(signature: Signature, line: LogLine) -> re.Match[str] | None:
    if signature.origin == "kernel":
        return signature.pattern.match(line.message, 0, _STRETCH) if is_kernel(line) else None
    if len(line.message) <= _STRETCH:
        return signature.pattern.search(line.message)
    found = (signature.pattern.search(line.message, *ends) for ends in _stretches(signature, line.message))
    return next((match for match in found if match), None)


def _stretches(signature: Signature, message: str) -> Iterator[tuple[int, int]]:
    """Where to look in a long message: the search of the whole of it could take the square of its length."""
    for start in range(0, len(message) - _OVERLAP, _STRETCH - _OVERLAP):
        end = start + _STRETCH
        if any(message.find(literal, start, end) >= 0 for literal in signature.literals):
            yield start, end


def _match(signature: Signature, line: LogLine, log: Log, source_name: str) -> Hit | None:
    match = shown_by(signature, line)
    if not match:
        return None
    groups = match.groupdict()
    fault = units.fault_of(_unit(groups)) if signature.by_unit else signature.fault
    if fault is None:
        return None
    part = signature.component.format(**groups) if signature.component is not None else components.from_groups(groups)
    if not part and signature.look_back:
        part = _from_lines_before(log, line, signature.look_back)
    if not part and signature.below:
        part = _from_lines_below(log, line, signature.below)
    role = "note" if signature.role == "clear" else signature.role
    observation = observe(
        line, fault=fault, source_name=source_name, role=role, component=part or None, severity=signature.severity,
        action=signature.action, count=int((groups.get("count") or "1")[:9]), signature=signature.id,
    )  # fmt: skip
    if about := groups.get("about") or groups.get("about2"):  # a controller tells of another machine
        observation = replace(observation, node=about, component=part or about)
    observation = bmc_names.named(observation, line, log)
    if signature.confidence:
        observation = replace(observation, confidence=signature.confidence)
    return Hit(observation, signature.storm, signature.clears if signature.role == "clear" else ())


def _unit(groups: Mapping[str, str | None]) -> str:
    return next((name for key, name in groups.items() if key.startswith("unit") and name), "")


def _from_lines_below(log: Log, line: LogLine, pattern: re.Pattern[str]) -> str | None:
    found = (pattern.search(later.message, 0, _STRETCH) for later in log.after(line, count=2))
    return next((components.from_groups(match.groupdict()) for match in found if match), None)


def _from_lines_before(log: Log, line: LogLine, count: int) -> str | None:
    for earlier in log.before(line, count=count):
        for word in earlier.message.replace("(", " ").replace(")", " ").split():
            if _NEARBY_PCI.match(word) and (found := components.pci(word.removeprefix("pci/"), board=True)):
                return found
    return None
