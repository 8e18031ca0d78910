"""What a script that checks nodes found to be less than it expected."""

import re

from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import check_table as parser
from diagnostics.engine.parsers.check_table import Row
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation

_COUNTED = (
    (re.compile(r"gpu.?count|count.?(?:of.?)?gpu|num.?gpus?|gpus?$|nvml.?count", re.IGNORECASE), "gpu.count_mismatch"),
    (re.compile(r"(?:ib|hca|rdma|nic|mlx5?).?(?:device.?)?count|num.?(?:ib|hca|nic)s?", re.IGNORECASE), "fabric.device_missing"),
)  # fmt: skip
_WELL = re.compile(r"ok|pass|skip|info", re.IGNORECASE)


def judge(log: Log, *, source_name: str) -> list[Observation]:
    return [seen for row in parser.rows(log.text) if (seen := _of(row, source_name))]


def _of(row: Row, source_name: str) -> Observation | None:
    fault = next((fault for words, fault in _COUNTED if words.search(row.check)), None)
    if not fault or _WELL.match(row.status) or not (row.expected.isdigit() and row.found.isdigit()):
        return None
    if int(row.found) >= int(row.expected):
        return None
    detail = f"{row.check}: {row.found} of {row.expected}"
    return Observation(
        fault,
        row.line,
        source_name,
        node=row.node or None,
        detail=detail,
        order=row.line.number,
    )


_UNREAD = "of a script's own checks only the counts of parts are judged"

FORMATS = {"check-table": Format("node checks", (judge,), of(), has_log=True, unread=_UNREAD)}
