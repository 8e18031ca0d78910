"""Metrics of exporters against the table of what their values mean."""

import math
from collections.abc import Callable, Iterable

from diagnostics.engine.catalog.metrics import MetricRule, rules
from diagnostics.engine.judges import bmc_sensors, components, container_cpu, gpu_metrics, host_metrics
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import metrics
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metrics import Metric
from diagnostics.engine.types import Observation
from incidents.domain import faults
from incidents.domain.hardware import PartFacts

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__, "==": float.__eq__,
}  # fmt: skip
# The labels that name the part and the node, the most telling first.
_PARTS = (
    "pci_bus_id",
    "PCI_BUS_ID",
    "UUID",
    "uuid",
    "gpu",
    "dimm",
    "device",
    "name",
    "sensor",
    "port",
    "controller",
    "pod",
    "container",
)
_NODES = ("Hostname", "hostname", "node", "nodename", "kubernetes_node", "host", "instance")
_XIDS = "DCGM_FI_DEV_XID_ERRORS"


def judge(log: Log, *, source_name: str) -> list[Observation]:
    return _judge(metrics.from_text(log.text), source_name)


def judge_api(document: JsonText, *, source_name: str) -> list[Observation]:
    return _judge(metrics.from_api(document), source_name)


def parts(log: Log) -> list[PartFacts]:
    found = metrics.from_text(log.text)
    return gpu_metrics.parts(found, {_node(metric.labels) for metric in found})


def judge_targets(document: JsonText, *, source_name: str) -> list[Observation]:
    found = []
    for row in metrics.targets(document):
        if row.get("health") == "down":
            url = str(row.get("scrapeUrl") or "")
            line = document.locate("health", value='"down"', after=url)
            detail = str(row.get("lastError") or "")
            found.append(
                Observation(
                    "host.monitoring_lost", line, source_name, component=url or None, node=_node(row.get("labels") or {}),
                    detail=detail, order=line.number,
                )
            )  # fmt: skip
    return found


def _judge(series: Iterable[Metric], source_name: str) -> list[Observation]:
    found = list(series)
    seen = gpu_metrics.judge(found, {id(metric): _node(metric.labels) for metric in found}, source_name)
    for metric in found:
        if metric.name == _XIDS:
            seen += _last_xid(metric, source_name)
        for rule in rules():
            if rule.name.fullmatch(metric.name) and _fits(rule, metric):
                seen.append(_say(rule.fault, metric, source_name, rule=rule))
    return _without_weaker(seen)


def _fits(rule: MetricRule, metric: Metric) -> bool:
    if not all(pattern.fullmatch(metric.labels.get(label, "")) for label, pattern in rule.labels.items()):
        return False
    values = [value for value in metric.values if math.isfinite(value)]
    if not values:
        return False
    if rule.when and not _COMPARE[rule.when[0]](values[-1], rule.when[1]):
        return False
    if rule.rise is not None and values[-1] - values[0] < rule.rise:
        return False
    return not rule.bits or bool(int(values[-1]) & rule.bits)


def _say(
    fault: str, metric: Metric, source_name: str, *, rule: MetricRule | None = None, detail: str = ""
) -> Observation:
    return Observation(
        fault, metric.line, source_name, role=rule.role if rule else "root", component=_part(metric.labels), node=_node(metric.labels),
        detail=detail, order=metric.line.number, signature=metric.name,
    )  # fmt: skip


def _last_xid(metric: Metric, source_name: str) -> list[Observation]:
    """The gauge holds the last number only, and keeps it until the exporter starts again."""
    value = metric.values[-1]
    if not math.isfinite(value) or not 0 < value < 1000 or int(value) in (43, 45):
        return []
    known = faults.xid(int(value))
    return [_say(known.fault, metric, source_name, detail=f"Xid {known.number}: {known.meaning}")]


def _part(labels: dict[str, str]) -> str | None:
    address = next((labels[name] for name in ("pci_bus_id", "PCI_BUS_ID") if labels.get(name)), "")
    if not address and (index := gpu_metrics.index_of(labels)):
        return f"GPU {index}"
    for name in _PARTS:
        if value := labels.get(name):
            return components.pci(value, board=True) or value
    return None


def _node(labels: dict[str, str]) -> str | None:
    value = next((labels[name] for name in _NODES if labels.get(name)), None)
    return value.rsplit(":", 1)[0] if value and value.count(":") == 1 else value


def _without_weaker(seen: list[Observation]) -> list[Observation]:
    """One series may fit two rules: the alarm stands for both."""
    roots = {(one.line, one.fault) for one in seen if one.role == "root"}
    return [one for one in seen if one.role == "root" or (one.line, one.fault) not in roots]


_FAMILIES = of("gpu.memory", "gpu.thermal", "gpu.power", "host.memory", "os.clock", "os.services", "host.monitoring")
_UNREAD = "metrics show only what their exporter reads; a log or a diagnostic run shows more"

FORMATS = {
    "metrics": Format(
        "metrics",
        (judge, bmc_sensors.judge_metrics, container_cpu.series, host_metrics.judge),
        _FAMILIES,
        unread=_UNREAD,
        parts=parts,
    ),
    "metrics-api": Format("metrics", (judge_api, host_metrics.judge_api), _FAMILIES, unread=_UNREAD),
    "metrics-targets": Format("scrape targets", (judge_targets,), of("host.monitoring")),
}
