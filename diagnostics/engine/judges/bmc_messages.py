"""What a sentence of a BMC means: by its MessageId, else by its words; and the part that it names."""

import re

from diagnostics.engine.catalog import bmc as catalog
from diagnostics.engine.catalog.bmc import Meaning, MessageRule

_GOOD_AGAIN = re.compile(
    r"restored|returned to|has returned|within (?:the )?(?:normal |expected |operating )?range|are redundant"
    r"|is (?:now )?(?:normal|redundant|OK)\b|deassert|has been (?:resolved|repaired|cleared|corrected|restored)"
    r"|below the [\d.]+ \w+ high threshold|above the [\d.]+ \w+ low threshold"
    r"|fully redundant|redundancy regained|is operating normally|recovered"
    r"|(?:changed|transitioned|transition) (?:from \w+ )?to (?:OK|Healthy)\b|back to normal|is closed|was closed|became OK",
    re.IGNORECASE,
)
_BAD = (
    "critical",
    "warning",
    "fatal",
    "emergency",
    "error",
    "major",
    "minor",
    "caution",
    "degraded",
    "non-critical",
    "alert",
)
_PARTS = (
    re.compile(r"\b((?:Processor|PROC|CPU) ?\d+,? ?DIMM ?\w{1,4})\b", re.IGNORECASE),
    re.compile(r"\bSensor '?([\w.-]{2,60})'? (?:reading|has|is|exceeded|crossed)\b"),
    re.compile(
        r"\b((?:power supply|PSU|fan|pump|DIMM|drive|disk|CPU|processor|GPU|slot|bay|PCIe slot|NVSwitch|NVLink|SXM)"
        r"[ _#:]{0,2}[A-Z]{0,4}[_-]?\d[\w.:-]{0,12}(?: DIMM[ _]?\w{1,4})?|DIMM[ _][A-Z]\w{0,3}|inlet|outlet|exhaust|ambient)\b",
        re.IGNORECASE,
    ),
)
_ADDRESS = re.compile(r"\bbus (\d{1,3}) device (\d{1,2})(?: function (\d))?", re.IGNORECASE)


def is_good(text: str) -> bool:
    return _GOOD_AGAIN.search(text) is not None


def is_bad(severity: str) -> bool:
    return severity.lower() in _BAD


def rule(text: str, *, message_id: str = "") -> MessageRule | None:
    """The first rule whose id and words both fit, where it has both."""
    for one in catalog.message_rules():
        if (one.id is None or one.id.search(message_id)) and (one.text is None or one.text.search(text)):
            return one
    return None


def meaning(text: str, *, message_id: str = "", severity: str = "critical") -> Meaning | None:
    found = rule(text, message_id=message_id)
    return found.meaning if found and is_bad(severity) and not is_good(text) else None


def part(text: str) -> str | None:
    """The part as it is printed, or the PCI address that `bus 59 device 0 function 0` (decimal) means."""
    if address := _ADDRESS.search(text):
        bus, device, function = (int(number or 0) for number in address.groups())
        return f"0000:{bus:02x}:{device:02x}.{function}"
    for pattern in _PARTS:
        if match := pattern.search(text):
            return match.group(1).strip(" .:")
    return None
