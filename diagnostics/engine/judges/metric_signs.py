"""What a metric says of which part: the form that all judges of metrics share."""

from collections.abc import Iterable, Iterator
from typing import Any

from diagnostics.engine import components
from diagnostics.engine.catalog import metrics as catalog
from diagnostics.engine.parsers.metric import Metric
from diagnostics.engine.types import Observation


def sign(fault: str, metric: Metric, source_name: str, **more: Any) -> Observation:
    return Observation(
        fault, metric.line, source_name, **{"component": part_of(metric), **more}, node=metric.node, moment=metric.moment,
        order=metric.line.number, signature=metric.name,
    )  # fmt: skip


def part_of(metric: Metric) -> str | None:
    """The PCI address, else the index of the GPU, else the first label that names a part."""
    labels = metric.labels
    if address := pci_of(metric):
        return address
    if index := index_of(metric):
        return f"GPU {index}"
    value = next((labels[name] for name in catalog.labels("part") if labels.get(name)), None)
    return (components.pci(value, board=True) or value) if value else None


def pci_of(metric: Metric) -> str | None:
    return components.pci(label(metric, "pci"), board=True)


def index_of(metric: Metric) -> str:
    return next((one for name in catalog.labels("index") if (one := metric.labels.get(name, "")).isdigit()), "")


def label(metric: Metric, kind: str) -> str:
    """The value of the first of the labels that exporters use for the kind ("uuid", "model" ...), "" without one."""
    return next((metric.labels[name] for name in catalog.labels(kind) if metric.labels.get(name)), "")


def pairs(metrics: Iterable[Metric], first: str, second: str) -> Iterator[tuple[Metric, Metric]]:
    """Two metrics of one exporter with the same labels."""
    others = {frozenset(metric.labels.items()): metric for metric in metrics if metric.name == second}
    for metric in metrics:
        if metric.name == first and (other := others.get(frozenset(metric.labels.items()))):
            yield metric, other
