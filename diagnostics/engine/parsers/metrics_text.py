"""Metrics as an exporter prints them: the text format of Prometheus, OpenMetrics, the answer of /federate, promtool's query.

# HELP ipmi_chassis_drive_fault_state Current drive fault state (1=false, 0=true).
DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="3",UUID="GPU-5c1",Hostname="n1"} 1 1733024280000
node_vmstat_oom_kill_total 3 1733024280.123 # {trace_id="7c"} 1.0
up{instance="n1:9100"} => 0 @[1733024280.123]
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from diagnostics.engine.parsers.metric import Metric, metric
from diagnostics.engine.types import EvidenceLine

_NUMBER = r"[+-]?(?:\d[\d.]*(?:[eE][+-]?\d+)?|\.\d+|[Ii]nf|[Nn]a[Nn])"
_ROW = re.compile(
    r'(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>(?:[^"}]|"(?:[^"\\]|\\.)*")*+)\})?\s+'
    rf"(?:=>\s*)?(?P<value>{_NUMBER})(?:\s+(?:@\[)?(?P<at>{_NUMBER})\]?)?(?:\s+#\s.*)?"
)
_LABEL = re.compile(r'(?P<name>[A-Za-z_]\w*)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"')
_HELP = re.compile(r"# HELP (?P<name>[A-Za-z_:][\w:]*) (?P<text>.*)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n"}


class Row(NamedTuple):
    name: str
    labels: dict[str, str]
    value: str
    at: str | None


def metrics(text: str) -> Iterator[Metric]:
    """The same series again (the exporter was asked twice) is one series with two values."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], list[tuple[Row, EvidenceLine]]] = defaultdict(list)
    helps: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if said := _HELP.match(line):
            helps[said["name"]] = said["text"]
        elif one := row(line):
            found[one.name, frozenset(one.labels.items())].append((one, EvidenceLine(number, line)))
    for (name, _), rows in found.items():
        samples = [(one.at, one.value) for one, _ in rows]
        if read := metric(name, rows[0][0].labels, samples, rows[-1][1], said=helps.get(name, "")):
            yield read


def row(line: str) -> Row | None:
    match = _ROW.fullmatch(line)
    if not match:
        return None
    labels = {one["name"]: _plain(one["value"]) for one in _LABEL.finditer(match["labels"] or "")}
    return Row(match["name"], labels, match["value"], match["at"])


def _plain(value: str) -> str:
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), value) if "\\" in value else value
