"""Texts that the tools of a server print, judged line by line by the rules of catalog/tools.toml."""

import re
from collections.abc import Iterator
from functools import partial

from diagnostics.engine import catalog, components
from diagnostics.engine.catalog.tools import Rule, Tool, tools
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Check, EvidenceLine, Observation

_NEAR = 12  # lines in which the other value of a comparison stands
_LONGEST = 1000  # characters of a line that are looked at


def judge(tool: Tool, log: Log, *, source_name: str) -> list[Observation]:
    return list(_observations(tool, _lines(log), source_name))


def gaps(tool: Tool, log: Log) -> list[Check]:
    return [
        Check(tool.name, tool.families, "could_not_check", line.strip())
        for line in _lines(log)
        if any(pattern.search(line) for pattern in tool.gaps)
    ]


def _lines(log: Log) -> list[str]:
    return [line[:_LONGEST] for line in log.text.splitlines()]


def _observations(tool: Tool, lines: list[str], source_name: str) -> Iterator[Observation]:
    subject, strength = "", len(tool.subjects)
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        for rank, pattern in enumerate(tool.subjects[: strength + 1]):
            if match := _found(pattern, line):
                name = match["subject"]
                subject, strength = tool.subject_form.format(name) if name.isdigit() else name, rank
                break
        for rule in tool.rules:
            match = _found(rule.pattern, line)
            if match and _holds(rule, match, lines, number):
                yield _observation(rule, match, subject, EvidenceLine(number, line.strip()), source_name)
                break


def _found(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """Of an indented line also what stands behind its indentation."""
    return pattern.search(line) or (pattern.search(line.lstrip()) if line[:1].isspace() else None)


def _observation(rule: Rule, match: re.Match[str], subject: str, line: EvidenceLine, source_name: str) -> Observation:
    groups = match.groupdict()
    part = groups.get("component") if "component" in groups else subject
    part = components.pci(part) or part if part else None
    detail = rule.detail.format(**groups) if rule.detail else ""
    return Observation(
        rule.fault, line, source_name, role=rule.role, component=part, confidence=rule.confidence, detail=detail, order=line.number,
        signature=rule.pattern.pattern,
    )  # fmt: skip


def _holds(rule: Rule, match: re.Match[str], lines: list[str], number: int) -> bool:
    groups = match.groupdict()
    value, limit = _number(groups.get("value")), _number(groups.get("limit"))
    if rule.after and not _found(rule.after, lines[number - 2] if number > 1 else ""):
        return False
    if rule.at_least is not None and (value is None or value < rule.at_least):
        return False
    if "limit" in groups and (not limit or value is None or value < limit):
        return False
    if rule.below or rule.reaches:
        return _compared(rule, value, lines[number - 1 : number + _NEAR])
    return True


def _compared(rule: Rule, value: float | None, near: list[str]) -> bool:
    pattern = rule.below or rule.reaches
    other = next((found["value"] for line in near if pattern and (found := _found(pattern, line))), None)
    limit = _number(other)
    if value is None or limit is None:
        return False
    return value < limit if rule.below else limit > 0 and value >= limit * catalog.thresholds()["host"]["full_share"]


def _number(text: str | None) -> float | None:
    """Decimal with separators of thousands, or hexadecimal."""
    if not text:
        return None
    try:
        return float(int(text, 16)) if text.lower().startswith("0x") else float(text.replace(",", ""))
    except ValueError:
        return None


def _format(tool: Tool) -> Format:
    return Format(tool.name, (partial(judge, tool),), of(*tool.families), has_log=True, gaps=partial(gaps, tool))


FORMATS = {tool.kind: _format(tool) for tool in tools()}
