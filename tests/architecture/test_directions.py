"""What the import checker cannot see: rows, strings and names that point the wrong way."""

import ast
import subprocess
import sys
from pathlib import Path

from django.apps import apps
from django.urls import get_resolver

ROOT = Path(__file__).resolve().parents[2]
RANK = {"incidents": 0, "diagnostics": 1, "knowledge": 2}
OWN = ("config", *RANK)
# Django asks for these inside ready(): the models must be loaded first.
READY = {"incidents/apps.py", "diagnostics/apps.py", "knowledge/apps.py"}


def sources():
    return [path for app in OWN for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts]


def test_rows_point_down():
    seen = 0
    for model in apps.get_models():
        for field in [*model._meta.concrete_fields, *model._meta.local_many_to_many]:
            target = field.related_model and field.related_model._meta.app_label
            if model._meta.app_label in RANK and target in RANK:
                seen += 1
                assert RANK[target] <= RANK[model._meta.app_label], f"{field} points up"
    assert seen > 30


def test_own_modules_are_never_imported_inside_a_function():
    found = [
        f"{path.relative_to(ROOT)}:{inner.lineno}"
        for path in sources()
        if str(path.relative_to(ROOT)) not in READY
        for outer in ast.walk(ast.parse(path.read_text()))
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
        if (isinstance(inner, ast.ImportFrom) and (inner.module or "").split(".")[0] in OWN)
        or (isinstance(inner, ast.Import) and any(name.name.split(".")[0] in OWN for name in inner.names))
    ]
    assert found == []


def test_only_one_file_knows_the_gpu_library():
    users = {str(path.relative_to(ROOT)) for path in sources() if "import pynvml" in path.read_text()}
    assert users == {"diagnostics/probes/nvml.py"}


def test_no_request_holds_a_transaction_around_itself(settings):
    assert not any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values())


def test_the_engine_needs_neither_django_nor_celery():
    program = (
        "import sys\n"
        "class Wall:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'django', 'celery', 'rest_framework', 'redis', 'kombu'}:\n"
        "            raise ImportError(name + ' is walled off')\n"
        "sys.meta_path.insert(0, Wall())\n"
        "import diagnostics.engine.__main__\n"
        "print('alone')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("alone\n", 0), done.stderr


def test_every_name_of_the_rail_leads_to_a_page():
    names = set(get_resolver().reverse_dict)
    wanted = {
        "console",
        "incident_list",
        "node_list",
        "sop_list",
        "month",
        "delivery_list",
        "signin",
        "signout",
        "set_language",
    }
    assert wanted <= names
