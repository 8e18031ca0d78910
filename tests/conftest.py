"""The standing cast and what most tests need."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection
from django.utils import translation

from incidents.domain.permissions import Role
from incidents.models import RoleGrant, Team, User

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long proofs run only where they are asked for by their mark."""
    if "proof" in config.option.markexpr:
        return
    proofs = [item for item in items if item.get_closest_marker("proof")]
    if proofs:
        config.hook.pytest_deselected(items=proofs)
        items[:] = [item for item in items if not item.get_closest_marker("proof")]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """History refuses to be deleted; only so may a test database be flushed (knowledge/migrations/0002)."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO knowledge_flush_permit (reason) VALUES ('test run')")


@pytest.fixture(autouse=True)
def own_language() -> Iterator[None]:
    """A page asked for in Chinese leaves its language to whatever runs next in this thread."""
    yield
    translation.deactivate()


@pytest.fixture
def now() -> datetime:
    return NOW


def person(name: str, *roles: Role, team: Team | None = None) -> User:
    user = User.objects.create_user(username=name, display_name=name.title())
    for role in roles:
        RoleGrant.objects.create(user=user, role=role, team=team)
    return user


@pytest.fixture
def asha(db: None) -> User:
    """On call."""
    return person("asha", Role.RESPONDER)


@pytest.fixture
def ben(db: None) -> User:
    """Approves SOPs and administers."""
    return person("ben", Role.ADMINISTRATOR, Role.APPROVER)


@pytest.fixture
def vera(db: None) -> User:
    """May look, no more."""
    return person("vera", Role.VIEWER)


@pytest.fixture
def chen(db: None) -> User:
    """Of another team; a stranger to what belongs to others."""
    return person("chen", Role.RESPONDER, team=Team.objects.create(name="other team"))
