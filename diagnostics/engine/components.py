"""The names of parts: one spelling for each, and whether two names mean the same board."""

import re
from collections.abc import Mapping

from incidents.domain.pci import normal as pci

_NVME = re.compile(r"(nvme\d+)(?:c\d+)?(?:n\d+(?:p\d+)?)?")
_SCSI = re.compile(r"((?:sd|vd|xvd|hd)[a-z]+)\d*")

# Named groups of signatures, the most telling first, and how each is written.
_FORMS = {
    "board": "{}", "pci": "{}", "gpu": "GPU {}", "drive": "{}", "dimm": "{}", "cpu": "CPU {}", "device": "{}", "netdev": "{}",
    "server": "{}", "slot": "slot {}", "unit": "{}", "task": "{}", "name": "module {}",
}  # fmt: skip


def from_groups(groups: Mapping[str, str | None]) -> str | None:
    """The component that a signature's named groups tell of, or None; `pci2` is another place where `pci` may stand."""
    told = {name.rstrip("23456789"): value for name, value in groups.items() if value}
    for name, form in _FORMS.items():
        value = told.get(name)
        if not value:
            continue
        if name in ("board", "pci"):
            return pci(value, board=name == "board")
        return form.format(value.strip())
    return None


def board_of(component: str) -> str | None:
    """What two parts of one board have in common; None for a name that hides its board (dm-0, md1)."""
    if address := pci(component, board=True):
        return address
    name = component.lower().removeprefix("/dev/")
    if name.startswith(("dm-", "md")):
        return None
    match = _NVME.fullmatch(name) or _SCSI.fullmatch(name)
    return match.group(1) if match else name


def related(first: str | None, second: str | None) -> bool:
    """False only if both are known and surely differ."""
    if first is None or second is None:
        return True
    one, other = board_of(first), board_of(second)
    if one is None or other is None:
        return True
    if _is_pci(one) != _is_pci(other):  # an address and a name may well be one part
        return True
    return one == other


def _is_pci(name: str) -> bool:
    return pci(name) is not None
