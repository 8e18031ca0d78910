"""Whose silence it is: a name that ends in -bmc, -ipmi, -ilo or -idrac is that of the BMC, not of the server.

--- gn-7-bmc ping statistics ---
4 packets transmitted, 0 received, 100% packet loss, time 3051ms
"""

import re
from dataclasses import replace

from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Observation

_SILENT = "host.unreachable"
_BMC = re.compile(r"(?:^|[-_.\d])(?:bmc|ipmi|ilo|ilom|idrac|drac|xcc|cimc|oob)\d*(?=[-_.:]|$)", re.IGNORECASE)
_PINGED = re.compile(r"(?:^|[$#>] ?)(?:PING|--- )\s?(?P<name>[\w.-]+) (?:\(|ping statistics)")
_LINES_OF_PING = 12


def is_bmc(name: str) -> bool:
    return _BMC.search(name) is not None


def named(observation: Observation, line: LogLine, log: Log) -> Observation:
    """The sign with the name that a ping was sent to, and as the BMC's where that is the name of one."""
    if observation.fault != _SILENT:
        return observation
    name = observation.component or _pinged(line, log)
    if not name:
        return observation
    fault = "bmc.unreachable" if is_bmc(name) else _SILENT
    return replace(observation, fault=fault, component=name)


def _pinged(line: LogLine, log: Log) -> str | None:
    if "icmp_seq" not in line.message and "packet loss" not in line.message:
        return None
    matches = (_PINGED.search(earlier.message) for earlier in log.before(line, count=_LINES_OF_PING))
    return next((match["name"] for match in matches if match), None)
