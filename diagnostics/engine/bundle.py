"""Paths to parts: files, folders, archives and compressed files, read with limits.

Names inside archives are shown, never used as paths. Links are not followed. What is too much is cut or left out, and said so.
"""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from diagnostics.engine.types import Check, Part

_CHUNK = 1 << 20


class Unreadable(Exception):
    """An input that is not there or may not be read; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`ratio` of unpacked to packed size is looked at only beyond `ratio_from` bytes: small repetitive logs pack very well."""

    parts: int = 2_000
    part_bytes: int = 128 << 20
    total_bytes: int = 512 << 20
    ratio: int = 1_000
    ratio_from: int = 32 << 20


@dataclass(slots=True)
class Bundle:
    """What one path held. `is_bundle` is True for folders and archives, whose parts are judged together."""

    path: str
    is_bundle: bool = False
    parts: list[Part] = field(default_factory=list)
    problems: list[Check] = field(default_factory=list)
    total: int = 0

    def cannot(self, name: str, reason: str) -> None:
        self.problems.append(Check(name, (), "could_not_check", reason))


def read(path: str, *, limits: Limits | None = None) -> Bundle:
    """Reads one input ("-" is standard input); raises Unreadable."""
    limits = limits or Limits()
    bundle = Bundle(path)
    if not path:
        raise Unreadable('an empty name is no input; give a file, a folder, an archive or "-"')
    try:
        if path == "-":
            if sys.stdin is None:
                raise Unreadable("-: standard input is closed")
            _add(bundle, "standard input", _limited(sys.stdin.buffer, limits.total_bytes), limits)
        elif Path(path).is_dir():
            _add_folder(bundle, Path(path), limits)
        else:
            _add_file(bundle, Path(path), Path(path).name, limits)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from error
    return bundle


def _add_folder(bundle: Bundle, folder: Path, limits: Limits) -> None:
    bundle.is_bundle = True
    for path in sorted(folder.rglob("*")):  # rglob does not enter links to folders
        if path.is_symlink() or not path.is_file():
            continue
        if not _room(bundle, limits):
            return
        name = str(path.relative_to(folder))
        try:
            _add_file(bundle, path, name, limits)
        except OSError as error:
            bundle.cannot(name, f"cannot be read: {error.strerror or error}")
    if not bundle.parts and not bundle.problems:
        bundle.cannot(str(folder), "the folder holds no files")


def _add_file(bundle: Bundle, path: Path, name: str, limits: Limits) -> None:
    with path.open("rb") as file:
        data = _limited(file, limits.total_bytes)
    _add(bundle, name, data, limits, inside=bundle.is_bundle)


def _room(bundle: Bundle, limits: Limits) -> bool:
    if len(bundle.parts) >= limits.parts:
        bundle.cannot(bundle.path, f"only the first {limits.parts} files were read")
        return False
    if bundle.total >= limits.total_bytes:
        bundle.cannot(bundle.path, f"only the first {limits.total_bytes >> 20} MiB were read")
        return False
    return True


def _add(bundle: Bundle, name: str, data: bytes, limits: Limits, *, inside: bool = False) -> None:
    """One blob: a packed file is unpacked, an archive opened (but for one `inside` a bundle), all else is a part."""
    if (opener := _opener(data)) is not None:
        unpacked = _unpack(bundle, name, data, opener, limits)
        if unpacked is None:
            return
        data = unpacked
    members = _members(data)
    if members is None:
        if len(data) > limits.part_bytes:
            data = data[: limits.part_bytes]
            bundle.cannot(name, f"only the first {limits.part_bytes >> 20} MiB were read")
        bundle.parts.append(Part(name, data))
        bundle.total += len(data)
    elif inside:
        bundle.cannot(name, "an archive inside a bundle is not opened")
    else:
        _add_members(bundle, name, members, limits)


def _add_members(bundle: Bundle, name: str, members: Iterator[tuple[str, IO[bytes]]], limits: Limits) -> None:
    bundle.is_bundle = True
    try:
        for member, file in members:
            if not _room(bundle, limits):
                return
            _add(bundle, member, _limited(file, limits.part_bytes), limits, inside=True)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        NotImplementedError,
    ) as error:
        bundle.cannot(name, f"the archive is broken: {error}")


def _members(data: bytes) -> Iterator[tuple[str, IO[bytes]]] | None:
    """The files of an archive, or None if this is none."""
    if data[257:262] == b"ustar":
        return _tar_members(data)
    return _zip_members(data) if data.startswith(b"PK\x03\x04") else None


def _tar_members(data: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            if member.isreg() and (file := archive.extractfile(member)):
                yield member.name, file


def _zip_members(data: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                with archive.open(info) as file:
                    yield info.filename, file


def _opener(data: bytes) -> Any:
    """The reader of a packed file, by its first bytes; None if it is not packed."""
    if data.startswith(b"\x1f\x8b"):
        return lambda raw: gzip.GzipFile(fileobj=raw)
    if data.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile
    if data.startswith(b"BZh"):
        return bz2.BZ2File
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd
    return None


def _zstd(raw: IO[bytes]) -> Any:
    import zstandard  # heavy, and only needed for this one kind of file

    return zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(raw, read_across_frames=True)


def _unpack(bundle: Bundle, name: str, data: bytes, opener: Any, limits: Limits) -> bytes | None:
    """None if nothing could be had; what came before the damage is kept, for the last minutes of a log matter most."""
    chunks: list[bytes] = []
    size = 0
    try:
        with opener(io.BytesIO(data)) as file:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                chunks.append(chunk)
                if size > limits.ratio_from and size > limits.ratio * len(data):
                    bundle.cannot(name, f"not unpacked: it grows more than {limits.ratio} times, as only a bomb does")
                    return None
                if size > limits.total_bytes:
                    break
    except Exception as error:  # noqa: BLE001  each of the four readers has errors of its own; none may end the diagnosis
        bundle.cannot(name, f"the packed file is broken after {size} bytes: {error}")
    return b"".join(chunks) if chunks else None


def _limited(file: IO[bytes], most: int) -> bytes:
    """At most one byte more than `most`, so that the caller sees that there was more."""
    chunks: list[bytes] = []
    left = most + 1
    while left > 0 and (chunk := file.read(min(_CHUNK, left))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
