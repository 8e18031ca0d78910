"""The files in a tar or zip archive, one after another. A tar is read as it comes; a zip is read from its end, so it must be a file."""

import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any

from diagnostics.engine.bundle_reader import Reader

_COPY = 1 << 20
BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    NotImplementedError,
)
Member = tuple[str, Any, int | None]  # its name, its bytes, and how many they were packed, if each is packed alone


def is_archive(head: bytes) -> bool:
    return _is_tar(head) or head.startswith(b"PK\x03\x04")


def members(reader: Reader, head: bytes, file: Any, most: int) -> Iterator[Member]:
    """`file` is what `reader` reads, if nothing was unpacked; a zip that stands in another stream is copied, up to `most` bytes."""
    if _is_tar(head):
        return _of_tar(reader)
    if reader.file is file and file.seekable():
        file.seek(0)
        return _of_zip(file)
    return _of_copy(reader, most)


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _of_tar(reader: Reader) -> Iterator[Member]:
    with tarfile.open(fileobj=reader, mode="r|", bufsize=_COPY) as archive:  # type: ignore[call-overload]
        for member in archive:
            if member.isreg() and (file := archive.extractfile(member)):
                yield member.name, file, None


def _of_zip(file: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                with archive.open(info) as content:
                    yield info.filename, content, info.compress_size


def _of_copy(reader: Reader, most: int) -> Iterator[Member]:
    with closing(tempfile.TemporaryFile()) as copy:
        while (chunk := reader.read(_COPY)) and copy.tell() <= most:
            copy.write(chunk)
        copy.seek(0)
        yield from _of_zip(copy)
