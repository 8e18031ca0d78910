"""GPUs that stand on the PCI bus and that the driver does not list: two tools of one node, asked together."""

from collections.abc import Sequence

from diagnostics.engine import components
from diagnostics.engine.catalog import profiles
from diagnostics.engine.reading import Read
from diagnostics.engine.types import EvidenceLine, Observation
from incidents.domain.hardware import PartFacts

BUS, DRIVER = "lspci", ("nvidia-smi-list", "nvidia-smi-table")
LISTS = (*DRIVER, BUS)


def missing(reads: Sequence[tuple[Read, str]], node: str | None) -> list[Observation]:
    """`reads` with the names of their sources. Only prints that list every GPU are counted."""
    found = []
    for host in {read.node for read, _ in reads}:
        on_bus = [
            (part, name) for read, name in reads if read.kind == BUS and read.node == host for part in _gpus(read)
        ]
        listed = [_gpus(read) for read, _ in reads if read.kind in DRIVER and read.node == host]
        if listed and 0 < len(listed[-1]) < len(on_bus):
            found.append(_say(on_bus, listed[-1], host or node))
        elif gap := _fewer_than_expected(reads, host, node):
            found.append(gap)
    return found


def _fewer_than_expected(reads: Sequence[tuple[Read, str]], host: str | None, node: str | None) -> Observation | None:
    """Than the node's profile says; a list that says nothing of any GPU may be of a machine without."""
    expected = profiles.current().gpus
    lists = [(read, name) for read, name in reads if read.kind in LISTS and read.node == host and _gpus(read)]
    if not expected or not lists:
        return None
    read, name = lists[-1]
    listed = _gpus(read)
    if len(listed) >= expected:
        return None
    line = _line_of(listed[-1])
    return Observation(
        "gpu.count_mismatch", line, name, node=host or node, detail=f"{len(listed)} of {expected} GPUs are there", order=line.number,
    )  # fmt: skip


def _gpus(read: Read) -> list[PartFacts]:
    return [
        part for part in read.parts if part.kind == "gpu" and not part.attributes.get("driver", "").startswith("vfio")
    ]


def _line_of(part: PartFacts) -> EvidenceLine:
    return EvidenceLine(int(part.attributes.get("line", 0)), str(part.attributes.get("text", "")))


def _say(on_bus: Sequence[tuple[PartFacts, str]], listed: Sequence[PartFacts], node: str | None) -> Observation:
    addresses = {components.pci(part.pci_address, board=True) for part in listed if part.pci_address}
    gone = [(part, name) for part, name in on_bus if addresses and part.pci_address not in addresses]
    part, name = (gone or on_bus)[0]
    line = _line_of(part)
    return Observation(
        "gpu.count_mismatch", line, name, component=part.pci_address if len(gone) == 1 else None, node=node, confidence="medium",
        detail=f"{len(on_bus)} GPUs on the PCI bus, {len(listed)} in nvidia-smi", order=line.number,
    )  # fmt: skip
