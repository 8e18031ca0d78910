"""One board has many names: an address, an index, a UUID, a serial. What the evidence or a known inventory tells makes them one.

The address is the name that a finding shows, for the kernel uses it and it outlives a driver that cannot load.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from diagnostics.engine import components
from diagnostics.engine.types import Observation
from incidents.domain.hardware import PartFacts

_INDEX = re.compile(r"(?:GPU|gpu)[ #:]?(\d{1,2})")
_UNREADABLE = ("ERR!", "N/A", "[N/A]", "Unknown Error")
Names = dict[str, PartFacts]


@dataclass(slots=True)
class Identities:
    """Parts by each of their names, node by node; None holds those of evidence that names no node."""

    _names: dict[str | None, Names] = field(default_factory=dict)

    def learn(self, parts: Iterable[PartFacts], node: str | None = None) -> None:
        names = self._names.setdefault(node, {})
        for part in parts:
            for name in _names_of(part):
                names[name] = _joined(names.get(name), part)

    def named(self, seen: Observation) -> Observation:
        """The sign with the address of its board, if only another of its names was printed."""
        part = self._find(seen.component, seen.node) if seen.component else None
        if part is None or not part.pci_address:
            return seen
        return replace(seen, component=components.pci(part.pci_address, board=True) or seen.component)

    def facts_of(self, component: str | None, node: str | None) -> Mapping[str, str]:
        """index, uuid, serial, slot, model and pci of the part, as far as they are known."""
        part = self._find(component, node) if component else None
        if part is None:
            return {}
        index = part.slot if part.kind == "gpu" and part.slot.isdigit() else ""
        slot = str(part.attributes.get("slot") or ("" if index else part.slot))
        facts = {
            "index": index,
            "uuid": part.uuid,
            "serial": part.serial,
            "slot": slot,
            "model": part.model,
            "pci": part.pci_address,
        }
        return {key: value for key, value in facts.items() if value and value not in _UNREADABLE}

    def _find(self, component: str | None, node: str | None) -> PartFacts | None:
        if component is None:
            return None
        keys = _keys(component)
        for names in (self._names.get(node), self._names.get(None)):
            if names and (key := next((key for key in keys if key in names), None)):
                return names[key]
        return None


def _names_of(part: PartFacts) -> list[str]:
    names = [part.uuid.lower(), part.serial.lower()]
    if part.pci_address:
        names.append(components.pci(part.pci_address, board=True) or part.pci_address)
    if part.slot:
        names.append(f"gpu {part.slot}" if part.kind == "gpu" else part.slot.lower())
    return [name for name in names if name]


def _keys(component: str) -> list[str]:
    keys = [component.lower()]
    if address := components.pci(component, board=True):
        keys.append(address)
    if match := _INDEX.fullmatch(component):
        keys.append(f"gpu {match[1]}")
    return keys


def _joined(known: PartFacts | None, part: PartFacts) -> PartFacts:
    """Two tools tell of one part: what the later leaves open, the earlier fills."""
    if known is None:
        return part
    return PartFacts(
        kind=part.kind, slot=part.slot or known.slot, model=part.model or known.model, serial=part.serial or known.serial,
        uuid=part.uuid or known.uuid, pci_address=part.pci_address or known.pci_address, attributes={**known.attributes, **part.attributes},
    )  # fmt: skip
