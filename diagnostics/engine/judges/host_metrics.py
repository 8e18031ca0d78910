"""The node exporter's metrics that only two or more together tell: a value beside its limit, the sizes of a file system."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from diagnostics.engine.catalog import metrics as catalog
from diagnostics.engine.judges import space
from diagnostics.engine.judges.metric_signs import pairs, sign
from diagnostics.engine.judges.space import Space
from diagnostics.engine.parsers.metric import Metric
from diagnostics.engine.types import Observation

_FILE_SYSTEM = "node_filesystem_"
_TOLD_BY = ("avail_bytes", "files_free")  # what tells of a file system, and is shown of it


def limits(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    """Of several limits of one value the first that it reaches counts."""
    found: dict[int, Observation] = {}
    for limit in catalog.limits():
        for metric, most in pairs(metrics, limit.name, limit.of):
            if id(metric) not in found and 0 < most.value * limit.share <= metric.value:
                detail = f"{metric.value:g} of {most.value:g}"
                found[id(metric)] = sign(limit.fault, metric, source_name, detail=detail)
    return list(found.values())


def file_systems(metrics: Sequence[Metric], source_name: str) -> list[Observation]:
    mounted: dict[frozenset[tuple[str, str]], dict[str, Metric]] = defaultdict(dict)
    for metric in metrics:
        if metric.name.startswith(_FILE_SYSTEM):
            mounted[frozenset(metric.labels.items())][metric.name.removeprefix(_FILE_SYSTEM)] = metric
    rows = [row for row in mounted.values() if any(name in row for name in _TOLD_BY)]
    spaces = [_space(row) for row in rows]
    return [
        sign("os.disk_full", _shown(row), source_name, component=told.mount, detail=words)
        for row, told, words in zip(rows, spaces, space.fullness(spaces), strict=True)
        if words
    ]


def _space(row: Mapping[str, Metric]) -> Space:
    size, available, free, files, files_free = (
        row[name].value if name in row else None
        for name in ("size_bytes", "avail_bytes", "free_bytes", "files", "files_free")
    )
    metric = _shown(row)
    return Space(
        metric.labels.get("mountpoint", ""), metric.labels.get("fstype", ""), metric.labels.get("device", ""), size,
        share=space.used_share(size, available, used=size - free if size and free is not None else None), available=available,
        inodes_share=1 - files_free / files if files and files_free is not None else None,
        node=metric.node, read_only="readonly" in row and row["readonly"].value == 1,
    )  # fmt: skip


def _shown(row: Mapping[str, Metric]) -> Metric:
    return next(row[name] for name in _TOLD_BY if name in row)
