"""Bytes to text, whatever they are: broken UTF-8, UTF-16 with a mark, CR LF, terminal colours, NULs."""

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_ANSI_BYTES = re.compile(_ANSI.pattern.encode())
_BINARY_SAMPLE = 4096
_PRINTED = b"\t\n\r\x1b\x08\x0c"
PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"BZh")


def decode(data: bytes) -> str:
    """The text without terminal colours: they stand in the middle of what is looked for."""
    text = data.decode("utf-16" if is_utf16(data) else "utf-8-sig", errors="replace")
    return _ANSI.sub("", text) if "\x1b" in text else text


def is_utf16(data: bytes) -> bool:
    """True if it begins with the mark of UTF-16 and has characters of two bytes."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in data[:256]


def is_binary(data: bytes) -> bool:
    """True for packed files, and if more than a tenth of the first 4 KiB are control bytes that no log prints.

    NUL padding at the ends is forgiven: a log may have it after a power cut.
    """
    if data.startswith(PACKED):
        return True
    if is_utf16(data):
        data = decode(data[: 2 * _BINARY_SAMPLE]).encode()
    sample = data.strip(b"\0")[:_BINARY_SAMPLE]
    if not sample:
        return bool(data)
    control = sum(byte < 32 and byte not in _PRINTED for byte in sample)
    return control * 10 > len(sample)


def clean(line: str) -> str:
    """One printed line without colours, NULs and its line end."""
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    return line.replace("\0", "").rstrip("\r\n \t")


def is_dirty(block: bytes | bytearray, start: int = 0, stop: int | None = None) -> bool:
    """True if it holds what `clean_block` takes out; a look at memory that was just read costs next to nothing."""
    return block.find(b"\x1b", start, stop) >= 0 or block.find(b"\0", start, stop) >= 0


def clean_block(block: bytes) -> bytes:
    """Whole lines without colours and NULs; there are as many lines as before."""
    return _ANSI_BYTES.sub(b"", block).replace(b"\0", b"")
