"""Bytes to text, whatever they are: broken UTF-8, UTF-16 with a mark, CR LF, terminal colours, NULs."""

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_BINARY_SAMPLE = 4096


def decode(data: bytes) -> str:
    """The text without terminal colours: they stand in the middle of what is looked for."""
    text = data.decode("utf-16" if _is_utf16(data) else "utf-8-sig", errors="replace")
    return _ANSI.sub("", text) if "\x1b" in text else text


def _is_utf16(data: bytes) -> bool:
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in data[:256]


def is_binary(data: bytes) -> bool:
    """True if the first 4 KiB hold more than a tenth of control bytes that no log prints (NUL padding at the ends is forgiven)."""
    if _is_utf16(data):
        return False
    sample = data.strip(b"\0")[:_BINARY_SAMPLE]
    if not sample:
        return bool(data)
    control = sum(byte < 32 and byte not in b"\t\n\r\x1b\x08\x0c" for byte in sample)
    return control * 10 > len(sample)


def clean(line: str) -> str:
    """One printed line without colours, NULs and its line end."""
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    return line.replace("\0", "").rstrip("\r\n \t")
