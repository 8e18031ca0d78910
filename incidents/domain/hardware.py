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
    """A node and its parts. `facts` holds the rest as it was read; `expected_gpus` None means that nobody has said."""

    hostname: str
    other_names: tuple[str, ...] = ()
    vendor: str = ""
    product: str = ""
    serial: str = ""
    expected_gpus: int | None = None
    parts: tuple[PartFacts, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
