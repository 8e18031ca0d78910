"""Which board a sentence about GPUs speaks of, and whether it denies the trouble that it names."""

import re

from diagnostics.engine import components

_PCI = re.compile(
    r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b|(?<=PCI:)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\b", re.IGNORECASE
)
_GPU = re.compile(r"\bGPU(?:\s?(?:ID)?[:=#]\s?|\s)(?P<gpu>\d{1,3})\b", re.IGNORECASE)
_UUID = re.compile(r"\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]{20,30}\b", re.IGNORECASE)
_SWITCH = re.compile(r"\bNv-?Switch(?:\s?[:=#]\s?|\s)(?P<switch>\d{1,3})\b", re.IGNORECASE)
_OVER = re.compile(
    r"\b(?:health\w*=(?:pass|ok|healthy)|is_?healthy[\"':= ]{1,4}true|cleared|resolved|recovered"
    r"|(?:tests?|checks?):? passed|no longer|back to healthy)\b",
    re.IGNORECASE,
)
# Before words of trouble in their sentence: there is none, or it is only thought of.
_DENIED = re.compile(
    r"(?:\b(?:no|zero|without|(?:had|has|found|detected) 0)\b[^.;:,]{0,24}|\b(?:if|whenever|for example|e\.g\.|such as)\b[^.;]{0,120})$",
    re.IGNORECASE,
)


def component_of(text: str) -> str | None:
    """The address is the better name; then the index, the UUID, the switch."""
    if match := _PCI.search(text):
        return components.pci(match.group(), board=True)
    if match := _GPU.search(text):
        return f"GPU {match['gpu']}"
    if match := _UUID.search(text):
        return match.group()
    match = _SWITCH.search(text)
    return f"NvSwitch {match['switch']}" if match else None


def is_over(text: str) -> bool:
    return _OVER.search(text) is not None


def is_denied(text: str, at: int) -> bool:
    """Whether what stands before the words at this place takes them back."""
    return _DENIED.search(text[max(at - 160, 0) : at]) is not None
