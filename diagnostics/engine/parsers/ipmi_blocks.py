"""One sensor or part a block, as the verbose prints of BMC tools and vendors' agents give it.

Sensor ID              : PSU2 Status (0x78)              ipmitool sdr -v, sdr get, sensor get
 Sensor Type (Discrete): Power Supply (0x08)
 States Asserted       : Power Supply
                         [Power Supply AC lost]
Index         : 1                                        omreport chassis
Status        : Critical
Location      : PS2 Status
Online Status : Presence Detected, AC lost
Power supply #2                                          hpasmcli show
        Condition: FAILED
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.engine.parsers.ipmi_sensors import Sensor
from diagnostics.engine.parsers.recognise import TextKinds, matches

_ROW = re.compile(r"\s*(?P<key>[A-Za-z][A-Za-z ()]{1,30}?)\s*:(?:\s(?P<value>.*))?$")
_STATE = re.compile(r"\s*\[(?P<state>[^\]]+)\]\s*$")
_TITLE = re.compile(r"\s*(?P<title>(?:Power supply|Fan|Processor|Module|Temp(?:erature)?) #\d+)\s*$", re.IGNORECASE)
_MARK = re.compile(r"\s*\((?:0x)?[0-9a-fA-F]+h?\)$")
_BEGIN = ("sensor id", "index")
_NAMES = ("sensor id", "location", "probe name", "connector name")
_TYPE = "sensor type"
_CONDITIONS = ("status", "condition")
_SAID = ("online status", "state", "failures")
_ASSERTED = "states asserted"
_HEAD = "<Sensor Name>"
_SECTION = re.compile(r"\s*Sensor Type\s*:\s*(?P<kind>\w+)")
_SECTIONS = {
    "POWER": "Power Supply", "TEMPERATURE": "Temperature", "FAN": "Fan", "VOLTAGE": "Voltage", "INTRUSION": "Physical Security",
    "BATTERY": "Battery", "CPU": "Processor", "MEMORY": "Memory", "REDUNDANCY": "Power Unit",
}  # fmt: skip
_GAP = re.compile(r"\s{2,}")
_GOOD = ("ok", "good", "present", "closed", "full", "full redundant")
_BAD = re.compile(r"critical|failed|lost|non-recoverable|^open", re.IGNORECASE)
# ipmitool's long words for the status of a threshold, and what agents call a state.
_STATUSES = {
    "ok": "nominal", "normal": "nominal", "lower critical": "lcr", "lower non-recoverable": "lnr", "lower non-critical": "lnc",
    "upper critical": "ucr", "upper non-recoverable": "unr", "upper non-critical": "unc", "critical": "critical", "failed": "critical",
    "non-critical": "warning", "non-recoverable": "critical", "degraded": "warning",
}  # fmt: skip


@dataclass(slots=True)
class _Block:
    title: str = ""
    values: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    states: list[tuple[str, int, str]] = field(default_factory=list)


def sensors(text: str) -> list[Sensor]:
    return [*(sensor for block in _blocks(text) if (sensor := _sensor(block))), *_columns(text)]


def _columns(text: str) -> Iterator[Sensor]:
    """racadm getsensorinfo: a table for each type of sensor, its columns apart by spaces."""
    kind, inside = "", False
    for number, raw in enumerate(text.splitlines() if _HEAD in text else (), 1):
        if match := _SECTION.match(raw):
            kind, inside = _SECTIONS.get(match["kind"].upper(), ""), False
        elif _HEAD in raw:
            inside = True
        elif inside and len(cells := _GAP.split(raw.strip())) >= 2:
            status = cells[1].lower()
            if status in _GOOD or cells[1] in ("NA", "N/A"):
                continue
            bad = "critical" if _BAD.search(cells[1]) else "na"
            yield Sensor(
                cells[0],
                "",
                bad,
                number,
                raw.strip(),
                kind=kind,
                events=f"{cells[1]} Transition to Critical" if bad == "critical" else "",
            )


def _blocks(text: str) -> Iterator[_Block]:
    """A block begins with its name, its index or a title of its own; other titles tell what the blocks below are."""
    block, last, group = _Block(), "", ""
    told = any(word in text for word in ("Sensor ID", "Status", "Condition"))
    for number, raw in enumerate(text.splitlines() if told else (), 1):
        if match := _TITLE.match(raw):
            yield block
            block, last = _Block(match["title"]), ""
        elif state := _STATE.match(raw):
            if last == _ASSERTED:
                block.states.append((state["state"], number, raw.strip()))
        elif match := _ROW.match(raw):
            key = match["key"].lower().split(" (")[0].strip()
            if key in _BEGIN:
                yield block
                block = _Block(group)
            block.values.setdefault(key, ((match["value"] or "").strip(), number, raw.strip()))
            last = key
        elif raw.strip() and not raw[:1].isspace():
            group = raw.strip() if len(raw) < 60 else ""  # "Power Supplies Information"
    yield block


def _sensor(block: _Block) -> Sensor | None:
    values = {key: value for key, (value, _, _) in block.values.items()}
    condition = next((key for key in _CONDITIONS if key in values), "")
    name = next((values[key] for key in _NAMES if values.get(key)), block.title if condition == "condition" else "")
    if not name or not (condition or block.states or _TYPE in values):
        return None
    status = _STATUSES.get(values.get(condition, "").lower(), "event" if block.states else "na")
    kind = _MARK.sub("", values.get(_TYPE, ""))
    said = next((values[key] for key in _SAID if values.get(key)), "")
    events = " ".join(state for state, _, _ in block.states) or said
    if status == "critical" and _TYPE not in values:
        events = f"{events} Transition to Critical".strip()  # the agent's verdict, whatever the part says of itself
    number, raw = _line(block, condition)
    reading = values.get("sensor reading", values.get("reading", ""))
    return Sensor(
        _MARK.sub("", name), "" if kind and block.states else reading.replace("(+/- 0) ", ""), status, number, raw,
        kind=kind or _kind_of_group(block.title), events=events,
    )  # fmt: skip


def _line(block: _Block, condition: str) -> tuple[int, str]:
    if block.states:
        return block.states[0][1:]
    key = condition if condition else next(iter(block.values))
    return block.values[key][1:]


def _kind_of_group(title: str) -> str:
    """What omreport calls the parts of a page; sensors whose name tells their kind need no more."""
    words = (
        ("power suppl", "Power Supply"),
        ("fan", "Fan"),
        ("temperature", "Temperature"),
        ("intrusion", "Physical Security"),
    )
    return next((kind for word, kind in words if word in title.lower()), "")


TEXT_KINDS: TextKinds = (
    (
        "ipmi-sensors",
        matches(
            r"(?m:^[ \t]*Sensor ID {2,}: .|^[ \t]*Probe Name[ \t]+: .|^[ \t]*Online Status[ \t]+: |^Power supply #\d+[ \t\r]*$"
            r"|^Redundancy Status\s*: |<Sensor Name>\s)"
        ),
    ),
)
