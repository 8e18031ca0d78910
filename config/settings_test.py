"""Settings of the test run: a database of its own, no files outside a temporary folder, fast password hashing."""

import atexit
import os
import shutil
import tempfile

if "SICKBAY_DATA_DIR" not in os.environ:
    # Before the settings are read: they make the data folder and its secret.
    os.environ["SICKBAY_DATA_DIR"] = tempfile.mkdtemp(prefix="sickbay-test-")
    atexit.register(shutil.rmtree, os.environ["SICKBAY_DATA_DIR"], ignore_errors=True)

from config.settings import *  # noqa: F403
from config.settings import DATA_DIR, DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_AUTOREFRESH = True
ALLOWED_HOSTS = ["*"]
# Nobody listens there: what a test rings for must not reach a queue that others read. Tests of the queue start their own.
CELERY_BROKER_URL = f"redis+socket://{DATA_DIR}/run/nobody.sock?virtual_host=0"

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # The rows of a test live for seconds: syncing each to the disk would only wear it.
    DATABASES["default"]["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
    # A file, not memory: only so do threads and processes of a test see one database and its locks.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
