"""File systems that are full, as df shows them."""

from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.parsers import df
from diagnostics.engine.parsers.df import FileSystem
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation


def full(log: Log, *, source_name: str) -> list[Observation]:
    limits = catalog.thresholds()["disk"]
    return [
        Observation(
            "os.disk_full",
            EvidenceLine(one.number, one.raw),
            source_name,
            component=one.mount,
            node=one.host,
            detail=detail,
            order=one.number,
        )
        for one in df.file_systems(log.text)
        if not _is_ignored(one, limits) and (detail := _fullness(one, limits))
    ]


def _is_ignored(one: FileSystem, limits: dict[str, Any]) -> bool:
    """What is full by nature: images that are only read, and memory."""
    names = {one.type, one.source}
    return (
        bool(names & set(limits["ignored_types"]))
        or one.source.startswith(tuple(limits["ignored_sources"]))
        or one.mount.startswith(tuple(limits["ignored_mounts"]))
    )


def _fullness(one: FileSystem, limits: dict[str, Any]) -> str:
    if one.inodes_share >= limits["inodes_full_share"] * 100:
        return f"{one.inodes_share} % of the inodes are used"
    if one.share < 0:
        return ""
    # df rounds up: where the sizes tell more, they count
    usable = one.used + one.available
    share = one.used / usable if usable > 0 and one.size > 0 else one.share / 100
    few_left = one.size > limits["small_bytes"] and 0 <= one.available < limits["full_bytes_left"]
    if share >= limits["full_share"] or (few_left and one.share > limits["few_left_share"] * 100):
        return f"{one.share} % used"
    return ""
