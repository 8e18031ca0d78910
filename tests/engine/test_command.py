import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from diagnostics.engine import __main__ as command

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
XID = "[ 1.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.\n"

# Refuses what the engine must not need.
BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"django", "celery", "rest_framework"}:
            raise ImportError(name + " is not there")
sys.meta_path.insert(0, Block())
import runpy
sys.argv[0] = "diagnostics.engine"
runpy.run_module("diagnostics.engine", run_name="__main__", alter_sys=True)
"""


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """In this process: to start one takes longer than what is asked of it."""
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as errors,
        patch.object(sys, "stdin", given),
    ):
        try:
            status = command.main(arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())


def run_apart(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """In a process of its own, where Django is not to be had."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO")}
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )


def test_it_needs_no_django_and_tells_of_findings_by_its_exit_status():
    ran = run_apart("-", stdin=XID)
    assert ran.returncode == 1, ran.stderr
    assert "gpu.off_bus" in ran.stdout
    assert "line 1: " in ran.stdout
    assert "\x1b" not in ran.stdout


def test_a_clean_log_exits_with_zero():
    ran = run("-", stdin="[ 1.000000] usb 1-1: new device\n")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "no fault found" in ran.stdout


def test_evidence_that_asks_for_too_much_memory_is_told(tmp_path: Path):
    (tmp_path / "deep.json").write_text("[" * 40_000_000)
    ran = run_apart("--memory", "100", str(tmp_path / "deep.json"))
    assert ran.returncode == 2, ran.stderr
    assert "it needs more than 100 MiB of memory; --memory allows more" in ran.stdout


def test_it_speaks_chinese():
    assert "GPU 掉卡" in run("--lang", "zh-hans", "-", stdin=XID).stdout


def test_wrong_use_and_missing_files_are_told_in_one_line(tmp_path: Path):
    ran = run(str(tmp_path / "nothing"))
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "No such file" in ran.stderr
    assert run().returncode == 2


def test_each_path_is_an_input_of_its_own_and_a_folder_is_one(tmp_path: Path):
    (tmp_path / "a.log").write_text(XID)
    (tmp_path / "b.log").write_text("[ 1.000000] usb 1-1: new device\n")
    ran = run("--json", str(tmp_path), str(tmp_path / "b.log"))
    files = json.loads(ran.stdout)["files"]
    assert [(one["kind"], one["verdict"]["state"], len(one["checked"])) for one in files] == [
        ("bundle", "sick", 2),
        ("log", "clean", 1),
    ]


@pytest.mark.parametrize("data", [b"", b"\n\n", bytes(range(32)) * 20, b"a shopping list\n"])
def test_an_input_of_which_nothing_could_be_checked_is_not_called_healthy(tmp_path: Path, data: bytes):
    (tmp_path / "in").write_bytes(data)
    ran = run(str(tmp_path / "in"))
    assert (ran.returncode, ran.stderr) == (2, "")
    assert "could not check: in: " in ran.stdout


def test_an_empty_folder_and_an_empty_name_are_told(tmp_path: Path):
    ran = run(str(tmp_path))
    assert ran.returncode == 2
    assert "the folder holds no files" in ran.stdout
    ran = run("")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "an empty name" in ran.stderr


def test_a_long_list_of_what_could_not_be_checked_is_cut(tmp_path: Path):
    for n in range(50):
        (tmp_path / f"{n}.bin").write_bytes(bytes(range(32)))
    assert run(str(tmp_path)).stdout.splitlines()[-1].endswith("30 more")


@pytest.mark.parametrize(
    ("shell", "told"),
    [("- <&-", "standard input is closed"), ("tests/engine/helpers.py >/dev/full", "cannot be written")],
)
def test_a_closed_input_and_a_full_disk_are_told_in_one_line(shell: str, told: str):
    ran = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m diagnostics.engine {shell}'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1), ran.stderr
    assert told in ran.stderr


def test_a_reader_that_goes_away_gets_no_traceback():
    ran = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m diagnostics.engine tests/engine/*.py | true'],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.stderr == ""


@pytest.mark.skipif(not SHARED.exists(), reason="the labelled cases are not beside this checkout")
def test_the_case_of_a_lost_gpu_with_its_switch_links():
    ran = run("--json", str(SHARED / "cases/node/003-xid79-with-sxid20034.txt"))
    found = json.loads(ran.stdout)
    (finding,) = found["files"][0]["findings"]
    assert (found["schema"], finding["fault"], finding["root"]) == ("sickbay.findings/1", "gpu.off_bus", True)
    assert "0000:91:00" in finding["component"]
    assert any("SXid" in one["line"] and "20034" in one["line"] for one in finding["consequences"])


@pytest.mark.parametrize("sign", ["\x07", "\x9b31m", "\x1b]0;mine\x07", "\u202e", "\r"])
def test_evidence_says_nothing_that_a_terminal_would_obey(sign: str):
    name = f"n1{sign}x"
    lines = f"Feb 24 10:58:12 {name} kernel: {XID}" + json.dumps(
        {"MESSAGE": XID, "_TRANSPORT": "kernel", "_HOSTNAME": name, "_BOOT_ID": sign}
    )
    printed = run("-", stdin=lines).stdout
    assert "gpu.off_bus" in printed
    assert all(character.isprintable() for line in printed.split("\n") for character in line)


def test_a_finding_is_not_followed_by_the_word_that_nothing_could_be_checked():
    printed = run("-", stdin="node,check,expected,actual,status\ngpu-n02,gpu_count_pci,8,7,FAIL\n").stdout
    assert "gpu.count_mismatch" in printed
    assert "nothing could be checked" not in printed
