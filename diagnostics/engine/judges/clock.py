"""A clock without a time source."""

from diagnostics.engine.parsers import clock
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role


def no_source(log: Log, *, source_name: str) -> list[Observation]:
    found = list(clock.sources(log.text))
    if not found or any(source.is_selected for source in found):
        return []
    # Reached but not selected: it may just have begun.
    role: Role = "note" if any(source.is_reached for source in found) and len(found) > 1 else "root"
    first = found[0]
    return [
        Observation(
            "os.clock_unsynced", EvidenceLine(first.number, first.raw), source_name, role=role, order=first.number,
            detail="no source is selected",
        )
    ]  # fmt: skip
