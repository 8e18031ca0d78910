"""Units that systemd says have failed."""

from collections.abc import Iterable

from diagnostics.engine.catalog import units as catalog_units
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import systemd
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.systemd import Unit
from diagnostics.engine.types import Observation

_FAMILIES = of("os.services")
_TIMER = "os.timer_failed"


def units(log: Log, *, source_name: str) -> list[Observation]:
    return _failed(systemd.units(log.text), source_name)


def units_of_json(document: JsonText, *, source_name: str) -> list[Observation]:
    return _failed(systemd.units_of_json(document), source_name)


def results(document: JsonText, *, source_name: str) -> list[Observation]:
    return _failed(systemd.results(document), source_name)


def _failed(found: Iterable[Unit], source_name: str) -> list[Observation]:
    return [
        Observation(
            fault, unit.line, source_name, component=unit.name, order=unit.line.number,
            confidence="high" if unit.is_failed else "medium", detail="" if unit.is_failed else "it is restarted again and again",
        )
        for unit in found
        if (unit.is_failed or unit.is_restarting) and (fault := _TIMER if unit.is_timed else catalog_units.fault_of(unit.name))
    ]  # fmt: skip


FORMATS = {
    "systemd-units": Format("system services", (units,), _FAMILIES, has_log=True),
    "systemd-timers": Format("timers", (), _FAMILIES, has_log=True),
    "systemd-units-json": Format("system services", (units_of_json,), _FAMILIES),
    "systemd-timers-json": Format("timers", (), _FAMILIES),
    "systemd-results-json": Format("system services", (results,), _FAMILIES),
}
