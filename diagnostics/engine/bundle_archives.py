"""The files in a tar or zip archive, one after another. A tar is read as it comes; a zip is read from its end, so it must be a file."""

import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any, Self

from diagnostics.engine.bundle_reader import Reader

_COPY = 1 << 20
MOST_HEADERS = (
    100_000  # of a tar: folders, links and devices are none of its files, and cost time and memory all the same
)
LONGEST_HEADER = 1 << 20  # bytes of a name or of attributes, which are read into memory as a whole
_BEFORE_A_MEMBER = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
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


class _Header(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _BEFORE_A_MEMBER and header.size > LONGEST_HEADER:
            raise tarfile.ReadError(f"a name or attributes of {header.size} bytes")
        return header


class _Closed:
    """The content of a member that cannot be opened; who reads it is told why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def read(self, size: int = -1, /) -> bytes:
        raise OSError(self._reason)


def _of_tar(reader: Reader) -> Iterator[Member]:
    with tarfile.open(fileobj=reader, mode="r|", bufsize=_COPY, tarinfo=_Header) as archive:  # type: ignore[call-overload]
        for number, member in enumerate(archive):
            if number == MOST_HEADERS:
                raise tarfile.ReadError(f"it has more than {MOST_HEADERS} entries")
            if member.sparse is not None:
                yield member.name, _Closed("a file with holes is not unpacked"), None
            elif member.isreg() and (file := archive.extractfile(member)):
                yield member.name, file, None


def _of_zip(file: IO[bytes]) -> Iterator[Member]:
    """One that is encrypted, or packed in a way that is not known, hides none of the others."""
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            try:
                content: Any = archive.open(info)
            except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
                yield info.filename, _Closed(str(error)), info.compress_size
                continue
            with content:
                yield info.filename, content, info.compress_size


def _of_copy(reader: Reader, most: int) -> Iterator[Member]:
    with closing(tempfile.TemporaryFile()) as copy:
        while (chunk := reader.read(_COPY)) and copy.tell() <= most:
            copy.write(chunk)
        copy.seek(0)
        yield from _of_zip(copy)
