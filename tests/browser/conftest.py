import os

import pytest
from django.utils import timezone

from tests.browser.scene import build
from tests.browser.shots import browser

# Playwright's event loop runs in this thread; Django would take it for a view that must not touch the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture(scope="session")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture
def scene(transactional_db, settings, tmp_path):
    """The night of `scene.py` as of this moment."""

    settings.STORAGES = {
        **settings.STORAGES,
        "default": {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "evidence"}},
    }
    return build(timezone.now())
