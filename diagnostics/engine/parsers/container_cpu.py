"""How often containers ran into their CPU limit, as cgroups count it.

nr_periods 180000 / nr_throttled 150000                                   cpu.stat of a cgroup
container_cpu_cfs_periods_total{pod="p",container="c"} 180000             cAdvisor; and ..._throttled_periods_total
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.engine.parsers import metrics
from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_STAT = re.compile(r"(?:(?P<path>/\S*)cpu\.stat[:\s]+)?\bnr_(?P<name>periods|throttled)[\s:=]+(?P<value>\d+)$")
_SERIES = {
    "container_cpu_cfs_periods_total": "periods",
    "container_cpu_cfs_throttled_periods_total": "throttled",
}


@dataclass(slots=True)
class Periods:
    """`line` is the one of the throttled ones."""

    container: str
    counts: dict[str, float] = field(default_factory=dict)
    line: EvidenceLine = field(default_factory=lambda: EvidenceLine(0, ""))

    def take(self, name: str, value: float, line: EvidenceLine) -> None:
        self.counts[name] = value
        if name == "throttled":
            self.line = line


def of_stat(text: str) -> Iterator[Periods]:
    """`nr_periods` stands before `nr_throttled` in every version of cpu.stat."""
    now = Periods("")
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _STAT.search(raw.strip()):
            if match["name"] == "periods":
                now = Periods((match["path"] or "").rstrip("/").rpartition("/")[2])
            now.take(match["name"], float(match["value"]), EvidenceLine(number, raw.strip()))
            if match["name"] == "throttled":
                yield now


def of_metrics(text: str) -> list[Periods]:
    found: dict[str, Periods] = {}
    for metric in metrics.from_text(text) if "_cfs_" in text else ():
        if name := _SERIES.get(metric.name):
            pod = metric.labels.get("pod") or metric.labels.get("name") or metric.labels.get("container") or ""
            key = f"{metric.labels.get('namespace')}/{pod}/{metric.labels.get('container')}"
            found.setdefault(key, Periods(pod)).take(name, metric.values[-1], metric.line)
    return list(found.values())


TEXT_KINDS: TextKinds = (("cpu-stat", matches(r"(?m:\bnr_periods[ \t:=]+\d+[ \t\r]*$)")),)
