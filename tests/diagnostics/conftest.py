"""A machine that is a recording: the transport that ships for it stands in for the way to this one."""

import json
from pathlib import Path

import pytest

from diagnostics.actions import transports
from diagnostics.probes.transports.replay import Replay
from incidents.actions import fleet
from incidents.domain.actors import SICKBAY

QUIET = """\
2026-11-30T02:10:01,104512+00:00 e1000e 0000:00:1f.6 eno1: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: None
2026-11-30T02:10:02,300871+00:00 EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Quota mode: none.
"""
XID_79 = "2026-11-30T02:51:13,550120+00:00 NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
GIB = 1024**3


class Recording:
    """A folder for `Replay`, with hands to change what the machine says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.say_kernel(QUIET)
        self.write("files/proc/self/mounts", "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\n")
        self.write(
            "files/proc/meminfo", "MemTotal: 2113000000 kB\nMemFree: 1000000000 kB\nMemAvailable: 1900000000 kB\n"
        )
        self.write("files/proc/vmstat", "pgfault 1\noom_kill 0\n")
        self.say_space(used=40 * GIB)

    def say_kernel(self, text: str) -> None:
        self.write("commands/dmesg_--time-format_iso.txt", text)

    def say_space(self, *, used: int, size: int = 400 * GIB) -> None:
        row = {"size": size, "used": used, "available": size - used, "inodes": 1_000_000, "inodes_used": 1000}
        self.write("space.json", json.dumps({"/": row}))

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def recording(tmp_path, monkeypatch):
    made = Recording(tmp_path / "recording")
    monkeypatch.setattr(transports, "Local", lambda: Replay(made.folder))
    return made


@pytest.fixture
def here(db, recording, now):
    """The node that this machine is."""
    return fleet.enrol(fleet.NodeFacts("gpu-r03-n05"), is_local=True, by=SICKBAY, at=now)


@pytest.fixture(autouse=True)
def evidence_folder(settings, tmp_path):
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "evidence"}},
    }
    return tmp_path / "evidence"
