"""Readings of the GPUs of a node among an exporter's metrics, compared with one another."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from diagnostics.engine.catalog.metrics import readings
from diagnostics.engine.judges import components, gpu_peers, gpu_samples
from diagnostics.engine.judges.gpu_speaker import Speaker
from diagnostics.engine.parsers.metrics import Metric
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Observation
from incidents.domain.hardware import PartFacts

_UUIDS, _MODELS, _ADDRESSES = ("UUID", "uuid"), ("modelName", "model", "name"), ("pci_bus_id", "PCI_BUS_ID")


def index_of(labels: dict[str, str]) -> str:
    return next((labels[name] for name in ("gpu", "index") if labels.get(name, "").isdigit()), "")


def judge(found: Iterable[Metric], node_of: dict[int, str | None], source_name: str) -> list[Observation]:
    """`node_of` tells the node of each metric by its identity, for GPUs are peers on one node only."""
    nodes: dict[str | None, list[Setting]] = defaultdict(list)
    for metric in found:
        if (reading := readings().get(metric.name)) and (gpu := _name(metric.labels)):
            path, factor = reading
            for value in metric.values:
                shown = hex(int(value)) if path.endswith("reasons_active") and value >= 0 else f"{value * factor:g}"
                nodes[node_of.get(id(metric))].append(Setting(gpu, path, shown, metric.line.number, metric.line.text))
    seen: list[Observation] = []
    for node, rows in nodes.items():
        say = Speaker(source_name)
        gpu_peers.judge(gpu_samples.boards(rows), say)
        seen += [replace(one, node=node) for one in say.found]
    return seen


def _name(labels: dict[str, str]) -> str:
    address = _first(labels, _ADDRESSES)
    index = index_of(labels)
    return components.pci(address, board=True) or (f"GPU {index}" if index else _first(labels, _UUIDS))


def _first(labels: dict[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def parts(found: Iterable[Metric], nodes: set[str | None]) -> list[PartFacts]:
    """Only where all is of one node: an index means another board on the next."""
    if len(nodes) > 1:
        return []
    known = {
        index: PartFacts(
            "gpu", index, model=_first(metric.labels, _MODELS), uuid=_first(metric.labels, _UUIDS),
            pci_address=components.pci(_first(metric.labels, _ADDRESSES), board=True) or "",
        )
        for metric in found
        if metric.name in readings() or metric.name.startswith(("DCGM_", "nvidia_smi_"))
        if (index := index_of(metric.labels))
    }  # fmt: skip
    return list(known.values())
