"""What an exporter tells of the GPUs of a node: their readings beside those of their peers, the Xids that it counted."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnostics.engine.catalog import metrics as catalog
from diagnostics.engine.catalog import profiles
from diagnostics.engine.catalog.metrics import XidMetric
from diagnostics.engine.judges import gpu_peers, gpu_samples, gpu_xid_meaning
from diagnostics.engine.judges.gpu_speaker import Speaker
from diagnostics.engine.judges.metric_signs import index_of, label, part_of, pci_of, sign
from diagnostics.engine.parsers.metric import Metric, number
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Observation
from incidents.domain.hardware import PartFacts

_EXPORTERS = ("DCGM_", "nvidia_smi_")


def beside_peers(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    """GPUs are peers on one node only."""
    nodes: dict[str | None, list[Setting]] = defaultdict(list)
    for metric in metrics:
        if metric.name in catalog.readings():
            nodes[metric.node] += _settings(metric)
    seen: list[Observation] = []
    for node, rows in nodes.items():
        say = Speaker(source_name)
        gpu_peers.judge(gpu_samples.boards(rows), say)
        seen += [replace(one, node=node) for one in say.found]
    return seen


def _settings(metric: Metric) -> Iterator[Setting]:
    """As nvidia-smi would print them."""
    path, factor = catalog.readings()[metric.name]
    gpu = _name(metric)
    for value in metric.values if gpu else ():
        shown = hex(int(value)) if path.endswith("reasons_active") and value >= 0 else f"{value * factor:g}"
        yield Setting(gpu, path, shown, metric.line.number, metric.line.text)


def _name(metric: Metric) -> str:
    index = index_of(metric)
    return pci_of(metric) or (f"GPU {index}" if index else label(metric, "uuid"))


def against_profile(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    """Most exporters tell how warm a GPU is and not how warm it may be; that, its profile knows."""
    found = []
    for metric in metrics:
        known = profiles.gpu(label(metric, "model")) if metric.name in catalog.gpu_temperatures() else None
        if known and known.slowdown_c and metric.value >= known.slowdown_c:
            detail = f"{metric.value:g} C, slowdown at {known.slowdown_c:g} C"
            found.append(sign("gpu.thermal.slowdown", metric, source_name, component=_name(metric), detail=detail))
    return found


def xids(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    """A gauge holds the last number only, and keeps it until the exporter starts again."""
    found = []
    for metric in metrics:
        form = catalog.xid_of(metric.name)
        xid = _number(metric, form) if form else None
        if form and xid:
            means = gpu_xid_meaning.of_number(xid, form.text)
            component = _switch(metric) or part_of(metric)
            found.append(replace(sign(means.fault, metric, source_name, component=component), **means.fields()))
    return found


def _switch(metric: Metric) -> str | None:
    index = metric.labels.get("nvswitch", "").removeprefix("nvswitch")
    return f"NvSwitch {index}" if index.isdigit() else None


def _number(metric: Metric, form: XidMetric) -> int | None:
    value: float | None = metric.value
    if form.labels:
        told = next((metric.labels[name] for name in form.labels if name in metric.labels), None)
        value = number(told) if metric.value > 0 else None
    is_number = value in gpu_xid_meaning.NUMBERS or value in gpu_xid_meaning.SWITCH_NUMBERS
    return int(value) if value is not None and is_number else None


def parts(metrics: Sequence[Metric]) -> list[PartFacts]:
    """Only where all GPUs are of one node: an index means another board on the next."""
    of_gpus = [metric for metric in metrics if metric.name in catalog.readings() or metric.name.startswith(_EXPORTERS)]
    if len({metric.node for metric in of_gpus}) > 1:
        return []
    known = {
        index: PartFacts(
            "gpu", index, model=label(metric, "model"), uuid=label(metric, "uuid"), pci_address=pci_of(metric) or "",
        )
        for metric in of_gpus
        if (index := index_of(metric))
    }  # fmt: skip
    return list(known.values())
