"""What a node says of itself, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PartFacts:
    """A part in its slot. `kind` is a PartKind; what the node does not tell is empty."""

    kind: str
    slot: str
    model: str = ""
    serial: str = ""
    uuid: str = ""
    pci_address: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node and its parts. `facts` holds the rest as it was read: CPU, memory, operating system, what could not be read."""

    hostname: str
    other_names: tuple[str, ...] = ()
    vendor: str = ""
    product: str = ""
    serial: str = ""
    parts: tuple[PartFacts, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gpu_count(self) -> int:
        return sum(part.kind == "gpu" for part in self.parts)
