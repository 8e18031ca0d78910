"""Paths to parts: files, folders, archives and compressed files, opened one after another and read with limits.

Names inside archives are shown, never used as paths. Links are not followed. What is too much is cut or left out, and said so.
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from diagnostics.engine import bundle_archives
from diagnostics.engine.bundle_reader import HEAD, Budget, Growth, Reader, opener
from diagnostics.engine.types import Check, Part


class Unreadable(Exception):
    """An input that is not there or may not be read; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A log alone is read in full. `archive_bytes` is what one archive may hold, unpacked.

    `ratio` of unpacked to packed size is looked at only beyond `ratio_from` bytes: small repetitive logs pack very well.
    """

    parts: int = 2_000
    archive_bytes: int = 8 << 30
    ratio: int = 1_000
    ratio_from: int = 32 << 20


@dataclass(slots=True)
class Bundle:
    """What one path holds. `parts` are opened as they are asked for, each good until the next; `problems` are known when all were.

    `is_bundle` is True for folders and archives, whose parts are judged together.
    """

    path: str
    limits: Limits
    is_bundle: bool = False
    parts: Iterable[Part] = ()
    problems: list[Check] = field(default_factory=list)

    def cannot(self, name: str, reason: str) -> None:
        self.problems.append(Check(name, (), "could_not_check", reason))


def read(path: str, *, limits: Limits | None = None) -> Bundle:
    """Opens one input ("-" is standard input); raises Unreadable."""
    bundle = Bundle(path, limits or Limits())
    if not path:
        raise Unreadable('an empty name is no input; give a file, a folder, an archive or "-"')
    try:
        if path == "-":
            if sys.stdin is None:
                raise Unreadable("-: standard input is closed")
            _open(bundle, "standard input", sys.stdin.buffer, close=False)
        elif Path(path).is_dir():
            bundle.is_bundle = True
            bundle.parts = _of_folder(bundle, Path(path))
        else:
            _refuse_device(path)
            _open(bundle, Path(path).name, Path(path).open("rb", buffering=0))  # noqa: SIM115  closed after its last part
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from error
    return bundle


def _refuse_device(path: str) -> None:
    """A pipe ends when its writer does; /dev/zero and /dev/kmsg never do."""
    mode = Path(path).stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise Unreadable(f'{path}: this is a device, which never ends; give a file, or pipe into "-"')


def _open(bundle: Bundle, name: str, file: Any, *, close: bool = True) -> None:
    reader = _unpacked(bundle, name, Reader(file, partial(bundle.cannot, name)))
    head = reader.head()
    bundle.is_bundle = bundle_archives.is_archive(head)
    if bundle.is_bundle:
        parts = _of_archive(bundle, name, reader, head, file)
    else:
        parts = _part(name, reader, head)
    bundle.parts = _closing(file, parts) if close else parts
    if not bundle.is_bundle and len(head) < HEAD:
        bundle.parts = list(bundle.parts)


def _closing(file: Any, parts: Iterator[Part]) -> Iterator[Part]:
    with file:
        yield from parts


def _unpacked(bundle: Bundle, name: str, reader: Reader, budget: Budget | None = None) -> Reader:
    """A reader of what a packed file holds; the same one if it is not packed."""
    if not (way := opener(reader.head())):
        return reader
    growth = Growth(bundle.limits.ratio, bundle.limits.ratio_from, packed=lambda: reader.count)
    return Reader(way(reader), partial(bundle.cannot, name), growth=growth, budget=budget)


def _part(name: str, reader: Reader, head: bytes) -> Iterator[Part]:
    """The part, whose rest is read when it is judged."""
    reader.skip_head()
    if head or not reader.has_told:
        yield Part(name, head, rest=reader if len(head) == HEAD else None)


def _of_folder(bundle: Bundle, folder: Path) -> Iterator[Part]:
    count = 0
    for path in _files(bundle, folder):
        if not _has_room(bundle, count):
            return
        count += 1
        name = str(path.relative_to(folder))
        try:
            with path.open("rb", buffering=0) as file:
                yield from _member(bundle, name, Reader(file, partial(bundle.cannot, name)))
        except OSError as error:
            bundle.cannot(name, f"cannot be read: {error.strerror or error}")
    if not count and not bundle.problems:
        bundle.cannot(str(folder), "the folder holds no files")


def _files(bundle: Bundle, folder: Path) -> Iterator[Path]:
    """In the order of their names. What cannot be looked into is told; links are passed over without a word."""

    def cannot_enter(error: OSError) -> None:
        bundle.cannot(str(error.filename or folder), f"cannot be read: {error.strerror or error}")

    for root, folders, names in os.walk(folder, onerror=cannot_enter):
        folders.sort()
        for path in (Path(root, name) for name in sorted(names)):
            if path.is_symlink():
                continue
            if path.is_file():
                yield path
            else:
                bundle.cannot(
                    str(path.relative_to(folder)), "not read: this is no file but a pipe, a socket or a device"
                )


def _of_archive(bundle: Bundle, name: str, reader: Reader, head: bytes, file: Any) -> Iterator[Part]:
    budget, limits = Budget(bundle.limits.archive_bytes), bundle.limits
    try:
        members = bundle_archives.members(reader, head, file, budget.most)
        for count, (member, content, size) in enumerate(members):
            if not _has_room(bundle, count) or budget.used > budget.most:
                return
            growth = Growth(limits.ratio, limits.ratio_from, packed=partial(int, size)) if size is not None else None
            packed = Reader(content, partial(bundle.cannot, member), growth=growth, budget=budget)
            yield from _member(bundle, member, packed, budget)
    except bundle_archives.BROKEN as error:
        bundle.cannot(name, f"the archive is broken: {error}")


def _member(bundle: Bundle, name: str, packed: Reader, budget: Budget | None = None) -> Iterator[Part]:
    reader = _unpacked(bundle, name, packed, budget)
    head = reader.head()
    if bundle_archives.is_archive(head):
        bundle.cannot(name, "an archive inside a bundle is not opened")
    else:
        yield from _part(name, reader, head)


def _has_room(bundle: Bundle, count: int) -> bool:
    if count < bundle.limits.parts:
        return True
    bundle.cannot(bundle.path, f"only the first {bundle.limits.parts} files were read")
    return False
