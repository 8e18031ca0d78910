"""Counts line ends: what a quiet log costs most after the scan."""

from importlib.util import find_spec
from typing import Any

_LONG = 16 * 1024  # bytes; below it the call costs more than the count
_numpy: Any = None


def hurry() -> None:
    """From here on with numpy, seven times as fast, where it is installed. Loading it pays for itself after some hundred megabytes."""
    global _numpy
    if _numpy is None and find_spec("numpy"):
        import numpy

        _numpy = numpy


def count(data: bytes | bytearray, start: int, stop: int) -> int:
    if _numpy is None or stop - start < _LONG:
        return data.count(b"\n", start, stop)
    return int(_numpy.count_nonzero(_numpy.frombuffer(data, _numpy.uint8, stop - start, start) == 10))
