"""The standing cast and what most tests need."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from incidents.domain.permissions import Role
from incidents.models import RoleGrant, Team, User

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


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
