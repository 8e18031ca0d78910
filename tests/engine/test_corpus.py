"""Evidence as sick and well machines print it, by people who know the machines and not the engine.

corpus/sick/<fault>/      each file has this one root fault; components.toml names the part where it is clear. Of a fault that is
                          told but never raises an alarm (NOTED), each file shows it and no root.
corpus/near/<fault>/      looks like it, and is no fault at all
corpus/healthy/           machines that are well, some of them noisy
"""

import re
import tomllib
from pathlib import Path

import pytest

from diagnostics.engine import bundle
from diagnostics.engine.diagnose import diagnose
from diagnostics.engine.types import Finding
from incidents.domain import faults

CORPUS = Path(__file__).parent / "corpus"
SICK = sorted(path for path in CORPUS.glob("sick/*/*") if path.name != "components.toml")
NEAR = sorted(CORPUS.glob("near/*/*"))
HEALTHY = sorted(CORPUS.glob("healthy/*"))
NOTED = {"gpu.app.channel_stopped"}  # a process was ended; alone it says nothing of the GPU
NODE_FAULTS = [fault.code for fault in faults.all_faults() if not fault.code.startswith("job.")]


def name(path: Path) -> str:
    return str(path.relative_to(CORPUS))


def findings(path: Path) -> tuple[Finding, ...]:
    read = bundle.read(str(path))
    return diagnose(read.parts, path=path.name, is_bundle=read.is_bundle, problems=read.problems).findings


def roots(path: Path) -> list[Finding]:
    return [finding for finding in findings(path) if finding.root]


def components(path: Path) -> str | None:
    table = path.parent / "components.toml"
    return tomllib.loads(table.read_text()).get(path.name) if table.exists() else None


def plain(text: str) -> str:
    return re.sub(r"[\s#]+", "", text.lower())


@pytest.mark.parametrize("path", SICK, ids=name)
def test_the_one_fault_of_a_sick_machine_is_named(path: Path):
    if path.parent.name in NOTED:
        assert {(finding.fault, finding.root) for finding in findings(path)} == {(path.parent.name, False)}
        return
    found = roots(path)
    assert {finding.fault for finding in found} == {path.parent.name}, [(one.fault, one.line) for one in found]
    if wanted := components(path):
        said = plain(
            " ".join(f"{finding.component} {finding.node} {' '.join(finding.part.values())}" for finding in found)
        )
        assert any(plain(choice) in said for choice in wanted.split("|")), said


@pytest.mark.parametrize("path", [*NEAR, *HEALTHY], ids=name)
def test_a_machine_that_is_well_raises_no_alarm(path: Path):
    assert [(finding.fault, finding.line) for finding in roots(path)] == []


def test_every_fault_of_a_node_is_shown_in_three_forms_and_one_that_only_looks_like_it():
    sick = {code: len([path for path in SICK if path.parent.name == code]) for code in NODE_FAULTS}
    near = {path.parent.name for path in NEAR}
    assert {code: count for code, count in sick.items() if count < 3} == {}
    assert set(NODE_FAULTS) - near == set()
    assert len(HEALTHY) + len(NEAR) >= 200
