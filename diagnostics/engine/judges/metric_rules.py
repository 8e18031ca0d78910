"""Metrics against the table of what their values mean (catalog/metrics.toml)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from diagnostics.engine.catalog import metrics as catalog
from diagnostics.engine.catalog.metrics import MetricRule
from diagnostics.engine.judges.metric_signs import part_of, sign
from diagnostics.engine.parsers.metric import Metric
from diagnostics.engine.types import Observation

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__, "==": float.__eq__,
}  # fmt: skip


def judge(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    return [
        sign(rule.fault, metric, source_name, role=rule.role, component=_part(rule, metric))
        for metric in metrics
        for rule in _telling(metric)
    ]


def _part(rule: MetricRule, metric: Metric) -> str | None:
    if not rule.part:
        return part_of(metric)
    return rule.part.format_map(defaultdict(str, metric.labels)).strip() or None


def _telling(metric: Metric) -> Iterable[MetricRule]:
    """One for each fault: a metric is one sign of it, however many rows it fits."""
    return {rule.fault: rule for rule in catalog.rules_of(metric.name) if _fits(rule, metric)}.values()


def _fits(rule: MetricRule, metric: Metric) -> bool:
    return (
        all(pattern.fullmatch(metric.labels.get(label, "")) for label, pattern in rule.labels.items())
        and (not rule.when or _COMPARE[rule.when[0]](metric.value, rule.when[1]))
        and (not rule.values or metric.value in rule.values)
        and (rule.rise is None or metric.growth >= rule.rise)
        and (not rule.bits or bool(int(metric.value) & rule.bits))
    )
