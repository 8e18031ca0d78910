"""The diagnosis in a child: the same answer, and the caller outlives it."""

import subprocess
from datetime import UTC, datetime

import pytest

from diagnostics.engine import wire
from diagnostics.engine.diagnose import diagnose
from diagnostics.engine.limited import diagnose_limited
from diagnostics.engine.types import Check, Diagnosis, Part
from incidents.domain.hardware import PartFacts

XID = b"Nov 30 03:00:00 gn-7 kernel: [ 9.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"
QUIET = b"[ 1.000000] quiet line\n"
PARTS = [
    Part("kern.log", QUIET * 200_000 + XID, 11),
    Part("dmesg", XID[29:] * 3),
    Part("none", b""),
    Part("\udcff.json", b'{"schema":"sickbay.disk/1","filesystems":[{"mount":null}]}'),
]
GAP = Check("lost", ("gpu.nvlink",), "could_not_check", "gone")


def test_a_child_gives_the_same_answer():
    asked = {
        "path": "x",
        "since": datetime(2026, 11, 29, tzinfo=UTC),
        "node": "gn-7",
        "problems": [GAP],
        "inventory": [PartFacts("gpu", "5", uuid="GPU-1", pci_address="0000:5e:00.0")],
    }
    here = diagnose(PARTS, **asked)
    assert here.findings
    assert diagnose_limited(PARTS, **asked) == here


def test_every_value_comes_back_as_it_was():
    found = diagnose(PARTS, path="x")
    assert wire.rebuilt(Diagnosis, wire.plain(found)) == found


@pytest.mark.parametrize(
    ("limits", "reason"), [({"memory_bytes": 200 << 20}, "200 MiB of memory"), ({"seconds": 1}, "more than 1 s")]
)
def test_what_needs_too_much_could_not_be_checked(limits: dict[str, int], reason: str):
    hungry = b'{"a":"' + b"x" * (60 << 20) + b'"}' if "memory_bytes" in limits else XID * 400_000
    found = diagnose_limited([Part("big", hungry)], path="x", problems=[GAP], **limits)
    assert found.verdict.state == "could_not_check"
    assert [check.name for check in found.could_not_check] == ["lost", "big"]
    assert reason in found.could_not_check[1].reason


@pytest.mark.parametrize(("status", "reason"), [(-11, "signal 11"), (1, "failed: KeyError")])
def test_any_other_death_is_told(monkeypatch: pytest.MonkeyPatch, status: int, reason: str):
    dead = subprocess.CompletedProcess([], status, b"", b"Traceback\n  File\nKeyError: 'x'\n")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: dead)
    assert reason in diagnose_limited([Part("a", XID)], path="x").could_not_check[0].reason
