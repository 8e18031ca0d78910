"""dcgmi diag, as a table and as JSON: the tests that failed, and why. Which message means which fault is data: catalog/dcgm_errors.csv."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnostics.engine.judges.gpu_dcgm_messages import GPU, flat, of_message, say
from diagnostics.engine.parsers import dcgm as parser
from diagnostics.engine.parsers.dcgm import Cell
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_FAILED = re.compile(r"\s*(?:GPU\s?(?P<gpu>\d+): )?Fail\b(?: - GPUs?: (?P<gpus>[\d, ]+))?")


def diagnostic(log: Log, *, source_name: str) -> list[Observation]:
    """The reason of a failing test is the finding; the failed test itself only without one."""
    reasons: list[Observation] = []
    failures: list[Observation] = []
    for cell in parser.cells(log.text):
        word = cell.name.lower()
        if word.startswith(("error", "warning")):
            reasons += _reason(cell, source_name)
        elif failed := _FAILED.match(cell.text):
            failures += _failures(cell, failed, source_name)
    return reasons + [_explained(failure, reasons) for failure in failures]


def _reason(cell: Cell, source_name: str) -> Iterator[Observation]:
    text = flat(cell.text)
    gpu = GPU.search(cell.name) or GPU.search(text)
    number = gpu.group(1) if gpu else ""
    line = EvidenceLine(cell.number, cell.raw)
    if seen := of_message(text, None, number, line, source_name):
        yield from seen
    elif cell.name.lower().startswith("error") and text:
        yield say("gpu.diag.failed", number, line, source_name, detail=text)


def _failures(cell: Cell, failed: re.Match[str], source_name: str) -> Iterator[Observation]:
    numbers = [failed["gpu"]] if failed["gpu"] else re.findall(r"\d+", failed["gpus"] or "") or [""]
    for number in numbers:
        yield say("gpu.diag.failed", number, EvidenceLine(cell.number, cell.raw), source_name, detail=cell.name)


def _explained(failure: Observation, reasons: Sequence[Observation]) -> Observation:
    known = [seen for seen in reasons if seen.role == "root" and seen.fault != "gpu.diag.failed"]
    if any(seen.component == failure.component or None in (seen.component, failure.component) for seen in known):
        return replace(failure, role="consequence")
    return failure


def diagnostic_json(document: JsonText, *, source_name: str) -> list[Observation]:
    found: list[Observation] = []
    for result in parser.results(document.value):
        line = document.locate("name", value=f'"{re.escape(result.test)}"')
        told = [
            seen
            for message in result.messages
            for seen in of_message(
                message.text, message.number, result.gpu, document.line_of(message.text) or line, source_name
            )
        ]
        found += told
        if result.status.lower() in ("fail", "failed", "error"):
            failure = say("gpu.diag.failed", result.gpu, line, source_name, detail=result.test)
            found.append(_explained(failure, told))
    return found
