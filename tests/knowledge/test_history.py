"""The database itself keeps what was used."""

import pytest
from django.db import IntegrityError, connection, transaction

from incidents.models import HistoryIsFixed
from knowledge.actions import checklists, links
from knowledge.models import FindingLink, PublishEvent, SopRevision, Step, StepResult
from tests.knowledge.conftest import found

STATEMENTS = ["UPDATE {table} SET id = id", "DELETE FROM {table}"]
if connection.vendor == "postgresql":  # SQLite has no TRUNCATE
    STATEMENTS.append("TRUNCATE {table} CASCADE")


@pytest.fixture
def no_permit(db):
    """As in production: nothing may be deleted."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM knowledge_flush_permit")


@pytest.fixture
def used(published, incident, asha, now):
    """One row of each kind of history."""
    finding = found(incident, at=now)
    links.suggest_for_run(finding.run_id, at=now)
    run = checklists.start(incident, published, by=asha, at=now)
    checklists.tick(run, "look", state="done", by=asha, at=now)


@pytest.mark.parametrize("model", [SopRevision, Step, PublishEvent, FindingLink, StepResult])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_statement_changes_or_deletes_history(used, no_permit, model, statement):
    connection.check_constraints()  # PostgreSQL truncates no table that has checks of its keys pending
    before = model.objects.count()
    assert before
    with (
        pytest.raises(IntegrityError, match="history is added to"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table=model._meta.db_table))
    assert model.objects.count() == before


def test_the_permit_lets_rows_be_deleted_but_never_changed(used):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM knowledge_stepresult")
        with pytest.raises(IntegrityError, match="history is added to"), transaction.atomic():
            cursor.execute("UPDATE knowledge_soprevision SET body = 'forged'")


def test_a_revision_refuses_by_itself(published):
    published.title = "another"
    with pytest.raises(HistoryIsFixed):
        published.save()
    with pytest.raises(HistoryIsFixed):
        published.delete()
    with pytest.raises(HistoryIsFixed):
        SopRevision.objects.filter(pk=published.pk).update(title="another")


@pytest.mark.django_db(transaction=True)
def test_a_test_database_can_be_flushed(published):
    assert SopRevision.objects.exists()  # what follows this test is the flush
