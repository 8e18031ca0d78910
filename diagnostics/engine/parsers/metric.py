"""One series of metrics, whatever form it came in, and the node that its labels name."""

import ipaddress
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

from diagnostics.engine.types import EvidenceLine, Moment

# What Prometheus renames of an exporter's own labels tells of the machine; `instance` may be no more than the exporter's address.
_NODES = (
    "exported_node", "exported_hostname", "exported_nodename", "node", "nodename", "node_name", "kubernetes_node", "k8s_node_name",
    "__meta_kubernetes_node_name", "__meta_kubernetes_pod_node_name", "Hostname", "hostname", "host_name", "host",
    "exported_instance", "instance",
)  # fmt: skip
_CLUSTER = re.compile(r"kube_|kube-state-metrics")  # told of all nodes by one pod, whose address is no node
_ADDRESS = re.compile(
    r"(?:\w+://)?(?:[^@/]*@)?(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:/]+)|(?P<bare>[^/]+))(?::\d+)?(?:/.*)?"
)
_SELF = frozenset(["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"])  # noqa: S104
_MILLISECONDS = 1e11  # as seconds it would be the year 5138


@dataclass(frozen=True, slots=True)
class Metric:
    """`values` are finite, in the order of their time, and at least one; `at` is when the last was taken, in Unix seconds.

    `help` is what the exporter says of the metric, where the evidence has it.
    """

    name: str
    labels: Mapping[str, str]
    values: tuple[float, ...]
    line: EvidenceLine
    at: float | None = None
    node: str | None = None
    help: str = ""

    @property
    def value(self) -> float:
        return self.values[-1]

    @property
    def growth(self) -> float:
        """How much a counter grew over the values; one that began anew grew by nothing."""
        return sum(max(later - earlier, 0) for earlier, later in pairwise(self.values))

    @property
    def moment(self) -> Moment:
        return Moment(at=datetime.fromtimestamp(self.at, UTC)) if self.at is not None else Moment()


def metric(
    name: str,
    labels: Mapping[str, str],
    samples: Iterable[tuple[object, object]],
    line: EvidenceLine,
    *,
    said: str = "",
) -> Metric | None:
    """`samples` are pairs of a time (or None) and a value as they were printed; None where none of them is a finite number."""
    found = [(number(at), value) for at, text in samples if math.isfinite(value := number(text))]
    if not found:
        return None
    if all(math.isfinite(at) for at, _ in found):
        found.sort(key=lambda sample: sample[0])
    values = tuple(value for _, value in found)
    return Metric(name, labels, values, line, _seconds(found[-1][0]), node_of(labels, name), said)


def number(text: object) -> float:
    """NaN for what is none."""
    try:
        return float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _seconds(at: float) -> float | None:
    """Exporters and exports print milliseconds, OpenMetrics and the API seconds."""
    at = at / 1000 if at > _MILLISECONDS else at
    return at if 0 < at < _MILLISECONDS else None


def node_of(labels: Mapping[str, str], name: str = "") -> str | None:
    """The node that the labels of the metric `name` tell of. A name is better than an address, whichever label has it."""
    is_of_cluster = _CLUSTER.match(name) or _CLUSTER.match(labels.get("job", ""))
    labelled = [label for label in _NODES if label in labels and (label != "instance" or not is_of_cluster)]
    hosts = [host for label in labelled if (host := host_of(labels[label]))]
    return next((host for host in hosts if not is_address(host)), hosts[0] if hosts else None)


@lru_cache(maxsize=4096)
def host_of(instance: str) -> str:
    """`gpu-a17:9100`, `[2001:db8::1]:9100`, `http://gpu-a17:9100/metrics`, an IPv6 address; "" where it is the machine itself."""
    if is_address(instance):
        host = instance
    else:
        match = _ADDRESS.fullmatch(instance.strip())
        host = (match["six"] or match["host"] or match["bare"]) if match else ""
    return "" if host in _SELF else host


@lru_cache(maxsize=4096)
def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
