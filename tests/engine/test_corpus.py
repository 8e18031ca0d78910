"""Evidence as sick and well machines print it, by people who know the machines and not the engine.

corpus/sick/<fault>/      each file has this one root fault; components.toml names the part where it is clear. Of a fault that is
                          told but never raises an alarm (NOTED), each file shows it and no root.
corpus/near/<fault>/      looks like it, and is no fault at all
corpus/healthy/           machines that are well, some of them noisy
"""

import re
import tomllib
from functools import lru_cache
from itertools import groupby
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


@lru_cache(maxsize=2048)
def findings(path: Path) -> tuple[Finding, ...]:
    read = bundle.read(str(path))
    return diagnose(read.parts, path=path.name, is_bundle=read.is_bundle, problems=read.problems).findings


def words_on_parts(path: Path) -> str:
    found = [one for one in findings(path) if one.root or path.parent.name in NOTED]
    return plain(" ".join(f"{one.component} {one.node} {' '.join(one.part.values())}" for one in found))


def plain(text: str) -> str:
    return re.sub(r"[\s#]+", "", text.lower())


def by_folder(paths: list[Path]) -> dict[str, list[Path]]:
    """One test for each folder: one for each file would take longer than what it tests."""
    return {folder: list(files) for folder, files in groupby(paths, lambda path: path.parent.name)}


@pytest.mark.parametrize(("code", "paths"), by_folder(SICK).items(), ids=by_folder(SICK))
def test_the_one_fault_of_a_sick_machine_is_named(code: str, paths: list[Path]):
    wanted = {(code, code not in NOTED)}
    found = {name(path): findings(path) for path in paths}
    kept = {path: [one for one in seen if one.root or code in NOTED] for path, seen in found.items()}
    shown = {path: [(one.fault, one.root, one.line) for one in seen] for path, seen in kept.items()}
    assert {path: rows for path, rows in shown.items() if {row[:2] for row in rows} != wanted} == {}


@pytest.mark.parametrize("table", sorted(CORPUS.glob("sick/*/components.toml")), ids=lambda path: path.parent.name)
def test_the_part_of_a_sick_machine_is_named(table: Path):
    wanted = tomllib.loads(table.read_text())
    said = {file: words_on_parts(table.parent / file) for file in wanted}
    assert {
        file: said[file] for file in wanted if not any(plain(one) in said[file] for one in wanted[file].split("|"))
    } == {}


@pytest.mark.parametrize("paths", by_folder([*NEAR, *HEALTHY]).values(), ids=by_folder([*NEAR, *HEALTHY]))
def test_a_machine_that_is_well_raises_no_alarm(paths: list[Path]):
    assert [(name(path), one.fault, one.line) for path in paths for one in findings(path) if one.root] == []


def test_every_fault_of_a_node_is_shown_in_three_forms_and_one_that_only_looks_like_it():
    sick = {code: len([path for path in SICK if path.parent.name == code]) for code in NODE_FAULTS}
    near = {path.parent.name for path in NEAR}
    assert {code: count for code, count in sick.items() if count < 3} == {}
    assert set(NODE_FAULTS) - near == set()
    assert len(HEALTHY) + len(NEAR) >= 200
