"""last: the sessions that the newest boot found unfinished."""

import re

from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role

_BOOT = re.compile(r"reboot\s+(?:system boot|~)")
_SHUTDOWN = re.compile(r"shutdown\s+(?:system down|~)")
_CRASH = re.compile(r"(?P<user>\w\S*)\s+\S.* - crash\s")


def crashed(log: Log, *, source_name: str) -> list[Observation]:
    """A session ends with "crash" where no shutdown was recorded. One crash is one event; those before older boots are history."""
    found, boots, told = [], 0, -1
    for number, raw in enumerate(log.text.splitlines(), 1):
        line = raw.strip()
        if _BOOT.match(line):
            boots += 1
        elif _SHUTDOWN.match(line):
            told = boots
        elif boots != told and _CRASH.match(line):
            told = boots
            found.append(_crash(EvidenceLine(number, line), source_name, "root" if boots == 1 else "note"))
    return found


def _crash(line: EvidenceLine, source_name: str, role: Role) -> Observation:
    return Observation(
        "host.reboot_unexpected", line, source_name, role=role, confidence="medium", order=line.number,
        detail="a session ended without a shutdown", signature="last-crash",
    )  # fmt: skip
