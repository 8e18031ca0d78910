"""A published SOP, an incident that it treats, a finding in it."""

import pytest

from diagnostics.models import DiagnosticRun, Finding
from incidents.domain import faults
from incidents.domain.permissions import Role
from knowledge.actions import revisions
from tests.conftest import person
from tests.incidents import factories
from tests.knowledge.samples import SOP


@pytest.fixture
def lin(db):
    """Writes SOPs; may not publish."""
    return person("lin", Role.AUTHOR)


@pytest.fixture
def draft(lin, now):
    """The first revision of the sample, published by nobody yet."""
    return revisions.create(text=SOP, language="en", by=lin, at=now)


@pytest.fixture
def published(draft, ben, now):
    revisions.publish(draft, by=ben, at=now)
    draft.refresh_from_db()
    return draft


@pytest.fixture
def incident(db, now):
    return factories.incident("host.fan.failed", at=now)


def found(incident, fault="host.fan.failed", *, at, component="fan 3", run=None):
    """A root finding of a finished run of the incident."""
    run = run or DiagnosticRun.objects.create(
        incident=incident, node=incident.node, plan="triage", purpose="manual", state="finished", created_at=at
    )
    return Finding.objects.create(
        run=run,
        incident=incident,
        node=incident.node,
        fault=fault,
        family=faults.family_of(fault),
        root=True,
        severity="SEV3",
        component=component,
        title="found",
        confidence="certain",
        engine_version="1",
        catalog_version="1",
    )
