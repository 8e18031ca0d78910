"""A folder of recorded outputs in place of a node: for tests, demonstrations and training.

commands/journalctl_-k_-b.txt     what a command printed; the longest name that starts the command counts
files/proc/meminfo                files of the node
space.json                        {"/": {"size", "used", "available", "inodes", "inodes_used"}}
nvml.json                         what stands for a library call
"""

import json
import re
from pathlib import Path

from diagnostics.probes.base import MEBIBYTE, Result, Space, newest_lines


class Replay:
    """The transport to a recording."""

    is_here = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(
        self,
        command: tuple[str, ...],
        *,
        deadline_seconds: float,
        max_bytes: int = 16 * MEBIBYTE,
        newest: bool = False,
    ) -> Result:
        names = ["_".join(command[:length]) for length in range(len(command), 0, -1)]
        for name in names:
            path = self._folder / "commands" / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}.txt"
            if path.is_file():
                data = path.read_bytes()
                kept = newest_lines(data, max_bytes) if newest else data[:max_bytes]
                return Result(0, kept, is_cut=len(data) > max_bytes)
        return Result(None, problem=f"{command[0]}: not recorded")

    def read(self, path: str, *, max_bytes: int = MEBIBYTE) -> bytes:
        return self._file(path).read_bytes()[:max_bytes]

    def names(self, path: str) -> list[str]:
        folder = self._file(path)
        return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []

    def space(self, path: str) -> Space:
        recorded = self._folder / "space.json"
        if path not in (table := json.loads(recorded.read_bytes())):
            raise FileNotFoundError(path)
        return Space(**table[path])

    def recorded(self, name: str) -> bytes | None:
        path = self._folder / name
        return path.read_bytes() if path.is_file() else None

    def _file(self, path: str) -> Path:
        return self._folder / "files" / path.lstrip("/")
