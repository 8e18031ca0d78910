"""What judges metrics: every one of these looks at all metrics, whatever form they came in."""

from collections.abc import Callable, Sequence

from diagnostics.engine.judges import container_cpu, gpu_metrics, host_metrics, ipmi_metrics, metric_rules
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import metrics
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metric import Metric, node_of
from diagnostics.engine.types import Check, Observation
from incidents.domain.hardware import PartFacts

_FAMILIES = of("gpu.memory", "gpu.thermal", "gpu.power", "host.memory", "os.clock", "os.services", "host.monitoring")
_UNREAD = "metrics show only what their exporter reads; a log or a diagnostic run shows more"

_JUDGES: tuple[Callable[[Sequence[Metric], str], list[Observation]], ...] = (
    gpu_metrics.beside_peers,
    gpu_metrics.against_profile,
    gpu_metrics.xids,
    metric_rules.judge,
    host_metrics.limits,
    host_metrics.file_systems,
    ipmi_metrics.judge,
    container_cpu.series,
)


def judge(evidence: Log | JsonText, *, source_name: str) -> list[Observation]:
    found = metrics.metrics(evidence)
    return [seen for one in _JUDGES for seen in one(found, source_name)]


def parts(evidence: Log | JsonText) -> list[PartFacts]:
    return gpu_metrics.parts(metrics.metrics(evidence))


def gaps(evidence: Log | JsonText) -> list[Check]:
    """An answer without a row, or rows that a function left without a name, say nothing."""
    if any(metric.name for metric in metrics.metrics(evidence)):
        return []
    return [Check("metrics", _FAMILIES(), "could_not_check", "it holds no value of a metric with a name")]


def judge_targets(document: JsonText, *, source_name: str) -> list[Observation]:
    found = []
    for row in metrics.targets(document):
        if row.get("health") == "down":
            url = str(row.get("scrapeUrl") or "")
            line = document.locate("health", value='"down"', after=url)
            found.append(
                Observation(
                    "host.monitoring_lost", line, source_name, component=url or None,
                    node=node_of({**(row.get("discoveredLabels") or {}), **(row.get("labels") or {})}),
                    detail=str(row.get("lastError") or ""), order=line.number,
                )
            )  # fmt: skip
    return found


FORMATS = {
    "metrics": Format("metrics", (judge,), _FAMILIES, gaps=gaps, unread=_UNREAD, parts=parts),
    "metrics-targets": Format("scrape targets", (judge_targets,), of("host.monitoring")),
}
