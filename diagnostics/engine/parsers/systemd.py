"""systemctl: the states of units, as a table, one by one, or as JSON.

  UNIT              LOAD   ACTIVE SUB    DESCRIPTION
* slurmd.service    loaded failed failed Slurm node daemon         list-units, --failed
* slurmd.service - Slurm node daemon
     Active: failed (Result: exit-code) since ...                  status
[{"unit":"slurmd.service","active":"failed","sub":"failed"}]       list-units -o json
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_MARK = r"^[ \t]*(?:[^\w\s/][ \t]*|x[ \t]+)?"  # no line ends: a pattern that runs over empty lines is slow
_UNIT = r"(?P<unit>[\w@.:\\-]+\.(?:service|mount|automount|socket|timer|target|path|swap|device))"
_STATE = r"(?P<active>active|inactive|failed|activating|deactivating|reloading)"
_ROW = rf"{_MARK}{_UNIT}[ \t]+(?:loaded|not-found|bad-setting|error|masked)[ \t]+{_STATE}[ \t]+(?P<sub>[\w-]+)"
_STATUS = rf"{_MARK}{_UNIT}(?: [-\u2013] |[ \t]*$)"
_UNIT_NAME = re.compile(r"[\w@-]\.(?:service|timer)\b")
_ACTIVE = (
    r"^\s+Active: (?P<active>[\w-]+)(?: \((?P<sub>[^)]*)\))?"
    r"(?: \(Result: (?P<result>exit-code|signal|core-dump|timeout|watchdog|start-limit(?:-hit)?|resources|protocol|oom-kill)\))?"
)
_TRIGGER = re.compile(r"^\s*TriggeredBy: .*?(?P<timer>[\w@.:\\-]+\.timer)")
_TIMED = re.compile(r"[\w@.:\\-]+\.timer[ \t]+(?P<unit>[\w@.:\\-]+\.service)")
_ROW_RE, _STATUS_RE, _ACTIVE_RE = re.compile(_ROW), re.compile(_STATUS), re.compile(_ACTIVE)


@dataclass(frozen=True, slots=True)
class Unit:
    name: str
    active: str
    sub: str
    line: EvidenceLine
    is_timed: bool = False

    @property
    def is_failed(self) -> bool:
        return self.active == "failed"

    @property
    def is_restarting(self) -> bool:
        """It ended, and systemd starts it again and again."""
        return self.active == "activating" and "auto-restart" in self.sub


def units(text: str) -> Iterator[Unit]:
    """A unit that a timer starts says so a few lines below its state; the table of timers names it too."""
    timed = {
        match["unit"]
        for line in (text.splitlines() if ".timer" in text else ())
        if ".timer" in line[:500] and (match := _TIMED.search(line[:500]))
    }
    last: Unit | None = None
    for found in _units(text):
        if isinstance(found, Unit):
            if last:
                yield last
            last = replace(found, is_timed=found.name in timed)
        elif last:
            last = replace(last, is_timed=True)
    if last:
        yield last


def _units(text: str) -> Iterator[Unit | str]:
    """Each unit, and after it the timer that triggers it."""
    name = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw[:500]
        if match := _ROW_RE.match(line):
            yield Unit(match["unit"], match["active"], match["sub"], EvidenceLine(number, line.strip()))
        elif match := _STATUS_RE.match(line):
            name = match["unit"]
        elif name and (match := _ACTIVE_RE.match(line)):
            active = "failed" if match["active"] == "inactive" and match["result"] else match["active"]
            yield Unit(name, active, match["sub"] or "", EvidenceLine(number, line.strip()))
        elif name and (match := _TRIGGER.match(line)):
            yield match["timer"]


def units_of_json(document: JsonText) -> Iterator[Unit]:
    for row in document.value:
        if isinstance(row, dict) and row.get("active"):
            name = str(row.get("unit"))
            yield Unit(name, str(row["active"]), str(row.get("sub")), document.locate("unit", value=f'"{name}"'))


def results(document: JsonText) -> Iterator[Unit]:
    """Units with the result of their last run; those that a timer starts stand beside its name."""
    for row in _rows_with_result(document.value):
        name = next((str(row[key]) for key in ("service", "activates", "unit", "id", "Id") if row.get(key)), "")
        result = str(row.get("Result") or row.get("result") or "")
        if name and result not in ("", "success", "done"):
            line = document.locate("Result" if "Result" in row else "result", value=f'"{result}"', after=f'"{name}"')
            yield Unit(name, "failed", result, line, is_timed="timer" in row or name.endswith(".timer"))


def _rows_with_result(value: Any) -> list[dict[str, Any]]:
    lists = [value, *value.values()] if isinstance(value, dict) else [value]
    rows = [row for one in lists if isinstance(one, list) for row in one if isinstance(row, dict)]
    return [row for row in rows if ("Result" in row or "result" in row) and _UNIT_NAME.search(str(row))]


def _is_table(value: Any, *keys: str) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(row, dict) and set(keys) <= row.keys() for row in value[:20])
    )


TEXT_KINDS: TextKinds = (
    ("systemd-units", matches(f"(?m:{_ROW})|loaded units listed")),
    ("systemd-units", matches(rf"(?m:{_STATUS})[\s\S]{{0,500}}?\n[ \t]+Active: ")),
    ("systemd-timers", matches(r"(?m:^NEXT\s+LEFT\s+LAST\s+PASSED\s+UNIT)|timers listed\.")),
)
JSON_KINDS: JsonKinds = (
    ("systemd-units-json", lambda value: _is_table(value, "unit", "active")),
    ("systemd-timers-json", lambda value: _is_table(value, "unit", "activates")),
    ("systemd-results-json", lambda value: bool(_rows_with_result(value))),
)
