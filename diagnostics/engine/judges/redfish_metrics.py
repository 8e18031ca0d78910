"""Metric reports of Redfish: values that the service itself calls stale."""

import re
from collections.abc import Iterator
from typing import Any

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.redfish import resources, text_of
from diagnostics.engine.types import Observation

_STALE = "MetricValueStale"
_DEVICE = re.compile(r"/(?:Chassis|Systems|Processors|Memory|Switches|Managers)/(?P<device>[^/#]+)")


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    """One sign for each device, for its values grow stale together."""
    found: dict[str, Observation] = {}
    for _, value in resources(document.value):
        for name in _stale(value):
            device = _device(name)
            if device not in found:
                line = document.locate(_STALE, value="true", after=f'"{name}"' if name else "")
                found[device] = Observation(
                    "bmc.stale_metric", line, source_name, component=device or None, order=line.number
                )
    return list(found.values())


def _stale(report: dict[str, Any]) -> Iterator[str]:
    rows = report.get("MetricValues")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and any(_is_true(one.get(_STALE)) for one in _holders(row)):
            yield text_of(row.get("MetricProperty") or row.get("MetricId"))


def _holders(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The value itself and what each vendor adds to it."""
    yield row
    oem = row.get("Oem")
    yield from (one for one in (oem.values() if isinstance(oem, dict) else ()) if isinstance(one, dict))


def _is_true(value: object) -> bool:
    return value is True or str(value).lower() == "true"


def _device(name: str) -> str:
    """The innermost device of the address."""
    devices = _DEVICE.findall(name)
    return devices[-1] if devices else name.rsplit("/", 1)[-1]
