"""What `make install` leans on: the lock files and the look at the machine before anything is there."""

import re
import stat
import subprocess
from pathlib import Path

import pytest

from config.env import ROOT

LOCKS = ["lock.txt", "dev.txt"]


def requirements(name: str) -> list[str]:
    """Each requirement with its hashes, in one line."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return text.replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_and_hashed(name):
    lines = requirements(name)
    assert len(lines) > 20
    for line in lines:
        assert re.match(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==[^ ]+ (; .+ )? *--hash=sha256:[0-9a-f]{64}", line), line


@pytest.mark.parametrize("name", LOCKS)
def test_no_address_of_a_registry_is_in_a_lock(name):
    for line in requirements(name):
        assert "://" not in line
        assert not line.startswith("-"), line


def test_both_locks_agree():
    def pins(name):
        return {line.split("==")[0]: line.split()[0].split("==")[1] for line in requirements(name)}

    assert pins("lock.txt").items() <= pins("dev.txt").items()


def preflight(tmp_path: Path, **pythons: str) -> subprocess.CompletedProcess[str]:
    """Run it on a machine that has just these Pythons, each a shell script."""
    for name, body in pythons.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return subprocess.run(
        ["/bin/sh", ROOT / "bin" / "preflight"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


# $2 is the program handed to `python -c`: the version, whether it is new enough, whether it can make environments.
def a_python(version: str, new_enough: int = 0, with_venv: int = 0) -> str:
    asked = f'*"%d.%d"*) echo {version} ;; *"(3, 11)"*) exit {new_enough} ;; *ensurepip*) exit {with_venv} ;;'
    return f"case $2 in {asked} esac"


def test_the_newest_python_is_taken(tmp_path):
    done = preflight(tmp_path, python3=a_python("3.11"), **{"python3.12": a_python("3.12")})
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "python3.12"))


def test_a_python_that_does_not_start_is_passed_over(tmp_path):
    done = preflight(tmp_path, python3=a_python("3.11"), **{"python3.12": "exit 127"})
    assert done.stdout.strip() == str(tmp_path / "python3")


def test_too_old_a_python_is_told_in_one_line_with_the_remedy(tmp_path):
    done = preflight(tmp_path, python3=a_python("3.9", new_enough=1))
    assert done.returncode == 1
    assert re.fullmatch(r"Sickbay needs Python 3.11 or newer; found 3.9 \(python3\)\. .*apt install.*\n", done.stderr)


def test_a_missing_venv_module_is_told_in_one_line_with_the_remedy(tmp_path):
    done = preflight(tmp_path, python3=a_python("3.11", with_venv=1))
    assert done.returncode == 1
    assert re.fullmatch(r"Python 3.11 is here but .*apt install python3.11-venv\n", done.stderr)


def test_no_python_at_all_is_told(tmp_path):
    assert "found none" in preflight(tmp_path).stderr
