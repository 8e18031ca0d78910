"""What the IPMI exporter tells Prometheus.

ipmi_fan_speed_state{id="65",name="FAN3"} 2
# HELP ipmi_chassis_drive_fault_state Current drive fault state (1=false, 0=true).
"""

import re
from dataclasses import dataclass

from diagnostics.engine.types import EvidenceLine

_ROW = re.compile(r"(?P<metric>ipmi_[a-z_]+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_HELP = re.compile(r"# HELP (?P<metric>ipmi_\w+) .*\(1=(?P<one>true|false)")


@dataclass(frozen=True, slots=True)
class Metric:
    """`one_is` is what the help text says that the value 1 means, if it does."""

    name: str
    labels: dict[str, str]
    value: float
    line: EvidenceLine
    one_is: str = ""


def metrics(text: str) -> list[Metric]:
    found, meant = [], {}
    for number, raw in enumerate(text.splitlines(), 1):
        if help_row := _HELP.match(raw):
            meant[help_row["metric"]] = help_row["one"]
        elif match := _ROW.match(raw.strip()):
            labels = dict(_LABEL.findall(match["labels"] or ""))
            line = EvidenceLine(number, raw.strip())
            found.append(Metric(match["metric"], labels, _number(match["value"]), line, meant.get(match["metric"], "")))
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
