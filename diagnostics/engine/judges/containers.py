"""Containers, pods and nodes as docker, crictl and kubectl show them. The words are in catalog/containers.toml."""

import re
from collections.abc import Iterator

from diagnostics.engine.catalog import containers as words
from diagnostics.engine.judges import container_cpu, kubernetes
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import container_tables
from diagnostics.engine.parsers.container_tables import Row
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Confidence, Observation, Role

_EXITED = re.compile(r"Exited \((?P<code>\d+)\)")
_MOST_BOARDS = 16
_STATUS_FIELDS = ("Reason", "Status", "State")
Sign = tuple[str, Role, str]


def tables(log: Log, *, source_name: str) -> list[Observation]:
    return [
        Observation(
            fault,
            row.line,
            source_name,
            role=role,
            component=part or None,
            confidence=_sure(fault),
            order=row.line.number,
        )
        for row in container_tables.rows(log.text)
        for fault, role, part in _ROWS[row.table](row)
    ]


def _sure(fault: str) -> Confidence:
    return "medium" if fault == "container.runtime_down" else "high"


def _pod(row: Row) -> Iterator[Sign]:
    status = row.cells.get("STATUS", "")
    if said := words.status(status):
        yield *said, row.cells.get("NAME", "")


def _node(row: Row) -> Iterator[Sign]:
    if row.cells.get("STATUS", "").split(",")[0] == "NotReady":
        yield "container.runtime_down", "root", row.cells.get("NAME", "")


def _docker(row: Row) -> Iterator[Sign]:
    status, name = row.cells.get("STATUS", ""), row.cells.get("NAMES", "")
    match = _EXITED.match(status)
    if status.startswith(("Restarting", "Dead")) or (
        match and int(match["code"]) in words.table()["docker"]["start_failed_codes"]
    ):
        yield "container.start_failed", "root", name
    elif match and int(match["code"]):  # a program's own end, or somebody stopped it
        yield "container.start_failed", "note", name


def _crictl(row: Row) -> Iterator[Sign]:
    return iter(())  # an exited container of crictl carries no reason


def _condition(row: Row) -> Iterator[Sign]:
    if fault := words.condition(row.cells.get("Type", ""), row.cells.get("Status", "")):
        yield fault, "root", row.subject


def _resources(row: Row) -> Iterator[Sign]:
    """Columns that somebody named himself; more than sixteen is no number of boards."""
    cells = list(row.cells.items())
    cap, alloc = (next((v for k, v in cells if word in k.upper()), "") for word in ("CAP", "ALLOC"))
    if cap.isdigit() and alloc.isdigit() and int(alloc) < int(cap) <= _MOST_BOARDS:
        yield "container.device_plugin", "root", cells[0][1]


_ROWS = {
    "pods": _pod,
    "nodes": _node,
    "docker": _docker,
    "crictl": _crictl,
    "conditions": _condition,
    "resources": _resources,
}


def description(log: Log, *, source_name: str) -> list[Observation]:
    """`Reason: OOMKilled` and its like in what kubectl describes."""
    found = []
    for field in container_tables.fields(log.text):
        said = words.status(field.value) if field.key in _STATUS_FIELDS else None
        if said and said[1] == "root":
            found.append(
                Observation(said[0], field.line, source_name, component=field.subject or None, order=field.line.number)
            )
    return found


def withheld(log: Log, *, source_name: str) -> list[Observation]:
    """Boards that a node has and cannot give out."""
    return [
        Observation(
            "container.device_plugin",
            node.lines[key],
            source_name,
            component=node.node or None,
            order=node.lines[key].number,
        )
        for node in container_tables.resources(log.text)
        for key in words.withheld(node.capacity, node.allocatable)
    ]


_JUDGES = (tables, description, withheld)
_FAMILIES = of("container.start", "container.image", "container.resources", "container.runtime")

FORMATS = {
    "kubectl": Format("Kubernetes", _JUDGES, _FAMILIES, has_log=True),
    "kubectl-node": Format("Kubernetes node", _JUDGES, of("container.runtime", "container.resources"), has_log=True),
    "docker-ps": Format("containers", _JUDGES, of("container.start"), has_log=True),
    "crictl-ps": Format("containers", _JUDGES, of("container.runtime"), has_log=True),
    "cpu-stat": Format("cgroup", (container_cpu.stat,), of("container.resources"), has_log=True),
    "docker-info": Format("docker info", _JUDGES, of("container.runtime"), has_log=True),
    **kubernetes.FORMATS,
}
