"""File systems that are full: one rule for what df, our own probe and the node exporter tell of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.parsers import df
from diagnostics.engine.parsers.df import FileSystem
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Space:
    """What is known of a file system. Shares are parts of 1 that are used, sizes bytes; None is what was not told.

    `is_needed`: the system has to write to it, whatever its type.
    """

    mount: str
    type: str = ""
    source: str = ""
    size: float | None = None
    share: float | None = None
    available: float | None = None
    inodes_share: float | None = None
    node: str | None = None
    read_only: bool = False
    is_needed: bool = False


def full(log: Log, *, source_name: str) -> list[Observation]:
    rows = list(df.file_systems(log.text))
    return [
        Observation(
            "os.disk_full", EvidenceLine(row.number, row.raw), source_name, component=row.mount, node=row.host, detail=words,
            order=row.number,
        )
        for row, words in zip(rows, fullness([_of_df(row) for row in rows]), strict=True)
        if words
    ]  # fmt: skip


def _of_df(row: FileSystem) -> Space:
    """df rounds up: where the sizes tell more, they count."""
    known = Space(row.mount, row.type, row.source, node=row.host)
    inodes_share = row.inodes_share / 100 if row.inodes_share >= 0 else None
    if row.share < 0:
        return replace(known, inodes_share=inodes_share)
    if row.size <= 0:
        return replace(known, inodes_share=inodes_share, share=row.share / 100)
    share = used_share(row.size, row.available, used=row.used)
    return replace(
        known, inodes_share=inodes_share, size=row.size, available=row.available,
        share=row.share / 100 if share is None else share,
    )  # fmt: skip


def used_share(size: float | None, available: float | None, *, used: float | None) -> float | None:
    """As df counts: what is kept for root is neither used nor available. Without `used`, all that is not available is."""
    if not size or available is None or available < 0:
        return None
    used = size - available if used is None else used
    return used / (used + available) if used + available > 0 else None


def fullness(spaces: Sequence[Space]) -> list[str]:
    """Of each how full it is, in words; "" where it is not, or is so by nature."""
    limits = catalog.thresholds()["disk"]
    shown = _shown(spaces)
    return [
        _words(space, limits) if (space.node, space.mount) in shown and not _is_by_nature(space, limits) else ""
        for space in spaces
    ]


def _shown(spaces: Iterable[Space]) -> set[tuple[str | None, str]]:
    """What is mounted several times (for containers, as subvolumes) is one file system, and its shortest mount names it."""
    mounts: dict[tuple[str | None, str, float | None], str] = {}
    for space in spaces:
        key = (space.node, space.source or space.mount, space.size)
        mounts[key] = min(mounts.get(key, space.mount), space.mount, key=len)
    return {(node, mount) for (node, _, _), mount in mounts.items()}


def _is_by_nature(space: Space, limits: dict[str, Any]) -> bool:
    """Images that are only read, memory, and what shows another file system again."""
    if space.read_only:
        return True
    return not space.is_needed and (
        not {space.type, space.source}.isdisjoint(limits["ignored_types"])
        or space.source.startswith(tuple(limits["ignored_sources"]))
        or space.mount.startswith(tuple(limits["ignored_mounts"]))
    )


def _words(space: Space, limits: dict[str, Any]) -> str:
    if space.inodes_share is not None and space.inodes_share >= limits["inodes_full_share"]:
        return f"{space.inodes_share:.0%} of the inodes are used"
    if space.share is None or not (space.share >= limits["full_share"] or _has_few_left(space, space.share, limits)):
        return ""
    left = f", {space.available / _GIB:.1f} GiB left" if space.available is not None else ""
    return f"{space.share:.0%} used{left}"


def _has_few_left(space: Space, share: float, limits: dict[str, Any]) -> bool:
    """Few bytes, although a large file system has a small share of them."""
    if space.size is None or space.available is None or space.size <= limits["small_bytes"]:
        return False
    return space.available < limits["full_bytes_left"] and bool(share > limits["few_left_share"])
