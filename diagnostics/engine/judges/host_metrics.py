"""Tables of the kernel and file systems that are full, by two metrics of the node exporter: what is used and how much there is."""

from collections.abc import Iterable, Iterator

from diagnostics.engine import catalog
from diagnostics.engine.parsers import metrics
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metrics import Metric
from diagnostics.engine.types import Observation

_FULL = 0.95
# used, how much there is, the fault
_TABLES = (
    ("node_nf_conntrack_entries", "node_nf_conntrack_entries_limit", "os.conntrack_full"),
    ("node_filefd_allocated", "node_filefd_maximum", "os.fd_exhausted"),
    ("node_processes_pids", "node_processes_max_processes", "os.fd_exhausted"),
)
_LEFT = (
    ("node_filesystem_avail_bytes", "node_filesystem_size_bytes", "full_share"),
    ("node_filesystem_files_free", "node_filesystem_files", "inodes_full_share"),
)
_NODES = ("instance", "node", "hostname", "host", "nodename")


def judge(log: Log, *, source_name: str) -> list[Observation]:
    return _judge(metrics.from_text(log.text), source_name)


def judge_api(document: JsonText, *, source_name: str) -> list[Observation]:
    return _judge(metrics.from_api(document), source_name)


def _judge(found: Iterable[Metric], source_name: str) -> list[Observation]:
    by_name: dict[tuple[str, frozenset[tuple[str, str]]], Metric] = {
        (metric.name, frozenset(metric.labels.items())): metric for metric in found if metric.name.startswith("node_")
    }
    return [*_tables(by_name, source_name), *_file_systems(by_name, source_name)]


Series = dict[tuple[str, frozenset[tuple[str, str]]], Metric]


def _tables(series: Series, source_name: str) -> Iterator[Observation]:
    for used, most, fault in _TABLES:
        for metric, limit in _pairs(series, used, most):
            if metric.values[-1] >= limit * _FULL:
                yield _says(fault, metric, source_name, None, f"{metric.values[-1]:.0f} of {limit:.0f}")


def _file_systems(series: Series, source_name: str) -> Iterator[Observation]:
    limits = catalog.thresholds()["disk"]
    for left, size, share in _LEFT:
        for metric, total in _pairs(series, left, size):
            mount = metric.labels.get("mountpoint", "")
            is_ignored = metric.labels.get("fstype") in limits["ignored_types"] or mount.startswith(
                tuple(limits["ignored_mounts"])
            )
            used = 1 - metric.values[-1] / total
            if not is_ignored and metric.values[-1] >= 0 and used >= limits[share]:
                yield _says("os.disk_full", metric, source_name, mount or None, f"{used:.0%} used")


def _pairs(series: Series, used: str, most: str) -> Iterator[tuple[Metric, float]]:
    for (name, labels), metric in series.items():
        limit = series.get((most, labels))
        if name == used and limit and limit.values[-1] > 0:
            yield metric, limit.values[-1]


def _says(fault: str, metric: Metric, source_name: str, part: str | None, detail: str) -> Observation:
    node = next((metric.labels[name].rsplit(":", 1)[0] for name in _NODES if metric.labels.get(name)), None)
    return Observation(
        fault,
        metric.line,
        source_name,
        component=part,
        node=node,
        detail=detail,
        order=metric.line.number,
        signature=metric.name,
    )
