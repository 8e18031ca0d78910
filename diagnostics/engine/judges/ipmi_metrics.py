"""What the IPMI exporter tells: the states of sensors and of the chassis, its collectors, the room in the event log."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from diagnostics.engine.catalog import metrics as catalog
from diagnostics.engine.judges import bmc_sensors
from diagnostics.engine.judges.metric_signs import sign
from diagnostics.engine.parsers import metrics as parsers
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metric import Metric
from diagnostics.engine.types import Observation, Role

_WARNING, _CRITICAL = 1, 2
_NONE_UP: tuple[str, Role] = ("bmc.unreachable", "root")
_SOME_UP: tuple[str, Role] = ("bmc.sensor_gap", "note")


def judge_text(log: Log, *, source_name: str) -> list[Observation]:
    """Of metrics among the prints of other tools."""
    return judge(parsers.metrics(log), source_name) if "ipmi_" in log.text else []


def judge(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    found = _collectors(metrics, source_name)
    for metric in metrics:
        if metric.name.startswith("ipmi_"):
            for fault, role in _meanings(metric):
                found.append(sign(fault, metric, source_name, role=role, component=metric.labels.get("name")))
    return found


def _collectors(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    """No collector that gets through: the BMC is not reached; one among others is a gap."""
    nodes: dict[str | None, list[Metric]] = defaultdict(list)
    for metric in metrics:
        if metric.name == "ipmi_up":
            nodes[metric.node].append(metric)
    found = []
    for ups in nodes.values():
        fault, role = _SOME_UP if any(metric.value for metric in ups) else _NONE_UP
        found += [sign(fault, metric, source_name, role=role, component=None) for metric in ups if not metric.value]
    return found


def _meanings(metric: Metric) -> Iterator[tuple[str, Role]]:
    table = catalog.ipmi()
    if metric.name.startswith("ipmi_chassis_"):
        yield from _of_chassis(metric)
    elif metric.name == "ipmi_sel_free_space_bytes" and metric.value < table["few_free_bytes"]:
        yield "bmc.sel_full", "root"
    elif metric.name.endswith("_state") and metric.value in (_WARNING, _CRITICAL):
        name, kind = metric.labels.get("name", ""), metric.labels.get("type", "")
        measured = metric.name.removeprefix("ipmi_").removesuffix("_state")
        kind = table["kinds"].get(measured, kind) or bmc_sensors.kind_of(name, "")
        meaning = bmc_sensors.meaning_of_limit(kind, name, "critical")
        yield meaning.fault, meaning.role if metric.value == _CRITICAL else "note"


def _of_chassis(metric: Metric) -> Iterator[tuple[str, Role]]:
    """The two collectors of the exporter count the other way round; only the help text tells which it was."""
    fault = catalog.ipmi()["chassis"].get(metric.name)
    if fault and f"{metric.value:g}=true" in metric.help:
        yield fault, "root"
    elif metric.name == "ipmi_chassis_power_state" and metric.value == 0:
        yield "host.power.lost", "note"
