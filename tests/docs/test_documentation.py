"""The documentation says what the code says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from incidents import events

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
OWN = {"config", "incidents", "diagnostics", "knowledge"}


def settings_in_code():
    text = "\n".join(path.read_text() for path in (ROOT / "config").rglob("*.py"))
    direct = re.findall(r'(?:ENV|env)\.(?:text|integer|boolean|words|url)\(\s*"([A-Z_]+)"', text)
    return {*direct, "SICKBAY_DATA_DIR", "SICKBAY_ENV_FILE"} - {"SICKBAY_SUPERVISED"}  # set by the supervisor alone


@pytest.mark.parametrize("name", sorted(settings_in_code()))
def test_every_setting_is_explained(name):
    assert f"`{name}`" in (DOCS / "operations.md").read_text()


def test_no_setting_is_explained_that_does_not_exist():
    explained = re.findall(r"`((?:SICKBAY_)[A-Z_]+)`", (DOCS / "operations.md").read_text())
    assert set(explained) <= settings_in_code()


@pytest.mark.parametrize("name", sorted(name for name, app in get_commands().items() if app in OWN))
def test_every_command_is_explained(name):
    assert re.search(rf"`(manage\.py )?{name}\b", (DOCS / "operations.md").read_text())


@pytest.mark.parametrize("kind", sorted(events.KINDS))
def test_every_event_is_explained(kind):
    assert f"`{kind}`" in (DOCS / "events.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_and_picture_of_a_page_leads_somewhere(page):
    text = "\n".join(
        line for line in page.read_text().splitlines() if not line.startswith("    ")
    )  # code says what it wants
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_place_that_is_named_exists():
    text = (DOCS / "where-things-are.md").read_text() + (DOCS / "architecture.md").read_text()
    for place in re.findall(
        r"`((?:config|incidents|diagnostics|knowledge|static|templates|locale|tests)/[\w./-]*)`", text
    ):
        assert (ROOT / place).exists(), place


def test_the_schema_of_the_api_is_the_one_in_the_documentation(tmp_path):
    made = tmp_path / "openapi.yaml"
    command = [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", str(made)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert made.read_text() == (DOCS / "openapi.yaml").read_text(), (
        "run: .venv/bin/python manage.py spectacular --file docs/openapi.yaml"
    )
