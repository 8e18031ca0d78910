import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments, data):
    inherited = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    environment = {**inherited, "SICKBAY_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "config.settings_test"}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_diagnose_prints_the_findings_document_and_nothing_else(tmp_path):
    assert manage("migrate", "-v", "0", data=tmp_path).returncode == 0
    result = manage("diagnose", "localhost", "--plan", "triage", "--json", "--no-input", data=tmp_path)
    document = json.loads(result.stdout)
    assert document["schema"] == "sickbay.findings/1"
    (entry,) = document["files"]
    names = [check["name"] for check in (*entry["checked"], *entry["could_not_check"])]
    assert {"kernel_log", "nvml", "disk", "memory"} <= set(names)
    assert all(check["reason"] for check in entry["could_not_check"])
    assert result.returncode == int(any(finding["root"] for finding in entry["findings"]))

    stranger = manage("diagnose", "no-such-host", "--json", data=tmp_path)
    assert (stranger.returncode, stranger.stdout) == (2, "")
    assert len(stranger.stderr.strip().splitlines()) == 1
    assert "localhost" in stranger.stderr
