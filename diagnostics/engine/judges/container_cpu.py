"""Containers that spend their time waiting for their CPU limit. The limits are in catalog/containers.toml (`throttled`)."""

from collections.abc import Iterable

from diagnostics.engine.catalog import containers as words
from diagnostics.engine.parsers import container_cpu
from diagnostics.engine.parsers.container_cpu import Periods
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation, Role


def stat(log: Log, *, source_name: str) -> list[Observation]:
    return _judge(container_cpu.of_stat(log.text), source_name)


def series(log: Log, *, source_name: str) -> list[Observation]:
    return _judge(container_cpu.of_metrics(log.text), source_name)


def _judge(found: Iterable[Periods], source_name: str) -> list[Observation]:
    seen = []
    limits = words.table()["throttled"]
    for one in found:
        periods = one.counts.get("periods", 0)
        share = one.counts.get("throttled", 0) / periods if periods >= limits["periods"] else 0
        if share >= limits["note"]:
            role: Role = "root" if share >= limits["root"] else "note"
            seen.append(
                Observation(
                    "container.resource_pressure", one.line, source_name, role=role, component=one.container or None,
                    confidence="medium", detail=f"throttled in {share:.0%} of its periods", order=one.line.number,
                )
            )  # fmt: skip
    return seen
