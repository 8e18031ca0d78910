"""What the text of BMC tools is judged by. One paste often holds several of their prints, so each looks at all of it."""

import re
from collections.abc import Callable

from diagnostics.engine.judges import bmc_access, bmc_events, bmc_sensors, ipmi_metrics
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import ipmi_fru
from diagnostics.engine.parsers.log import Log
from incidents.domain.hardware import PartFacts

_JUDGES = (
    bmc_events.judge, bmc_sensors.judge, ipmi_metrics.judge_text, bmc_access.judge_users, bmc_access.judge_lan, bmc_access.judge_fields,
)  # fmt: skip


def _format(name: str, families: Callable[[], tuple[str, ...]]) -> Format:
    return Format(name, _JUDGES, families, has_log=True)


# What a unit's name says that it is; the first that fits wins.
_UNITS = (
    ("psu", re.compile(r"psu|power suppl|\bPS ?\d|pwr sply", re.IGNORECASE)),
    ("gpu", re.compile(r"gpu|sxm", re.IGNORECASE)),
    ("dimm", re.compile(r"dimm", re.IGNORECASE)),
    ("fan", re.compile(r"fan", re.IGNORECASE)),
    ("board", re.compile(r"builtin|board|riser|backplane|planar", re.IGNORECASE)),
)


def _parts(log: Log) -> list[PartFacts]:
    return [
        PartFacts(_kind(unit.name), unit.name, model=unit.model, serial=unit.serial)
        for unit in ipmi_fru.units(log.text)
        if unit.serial
    ]


def _kind(name: str) -> str:
    return next((kind for kind, pattern in _UNITS if pattern.search(name)), "other")


FORMATS = {
    "ipmi-sel": _format(
        "BMC event log", of("host.memory", "host.cooling", "host.power", "host.board", "host.security")
    ),
    "ipmi-sensors": _format("BMC sensors", of("host.cooling", "host.power", "host.board")),
    "ipmi-sel-info": _format("BMC event log size", of("bmc.log")),
    "ipmi-chassis": _format("chassis status", of("host.cooling", "host.security", "host.availability")),
    "ipmi-controller": _format("BMC itself", of("bmc.sensors", "bmc.link")),
    "ipmi-fru": Format("field-replaceable units", _JUDGES, of("bmc.sensors"), has_log=True, parts=_parts),
    "ipmi-users": _format("BMC accounts", of("bmc.access")),
    "ipmi-lan": _format("BMC network settings", of("bmc.access", "bmc.link")),
}
