"""PCI addresses, as the kernel, the driver and NVML write them."""

import re

# With its domain, lest a time of day pass for one; a domain has more than four digits behind a VMD controller, eight with NVML. No
# backslash: the text is put into the patterns of TOML files.
ADDRESS = "[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:[.][0-7])?"

_PARTS = re.compile(
    r"(?:pci[:/])?(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})(?:\.(?P<function>[0-7]))?(?!:?[0-9a-f])"
)


def normal(text: str, *, board: bool = False) -> str | None:
    """`00000000:3B:00.0` and `PCI:0000:3b:00` -> `0000:3b:00.0`; None if it does not begin with one.

    With `board` every function counts as the first.
    """
    match = _PARTS.match(text.strip().lower())
    if not match:
        return None
    domain = (match["domain"] or "").lstrip("0").rjust(4, "0")
    return f"{domain}:{match['bus']}:{match['device']}.{'0' if board else match['function'] or '0'}"
