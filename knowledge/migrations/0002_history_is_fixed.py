"""The database itself refuses to change or delete what an incident may have used.

A row in `knowledge_flush_permit` lets rows be deleted, never changed. The table is empty; the test run puts a row in so that
the test database can be flushed (tests/conftest.py). It belongs to no model, so a flush does not empty it.

SQLite forgets the triggers of a table that a later migration rebuilds: run `install` again there. A test looks for them.
"""

from django.db import migrations

TABLES = (
    "knowledge_soprevision",
    "knowledge_step",
    "knowledge_publishevent",
    "knowledge_findinglink",
    "knowledge_stepresult",
)
WORDS = "history is added to, never changed or deleted"

PERMIT = "CREATE TABLE knowledge_flush_permit (reason varchar(200) NOT NULL)"
PERMITTED = "EXISTS (SELECT 1 FROM knowledge_flush_permit)"

SQLITE = (
    "CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, '{table}: {words}'); END",
    "CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} WHEN NOT {permitted} "
    "BEGIN SELECT RAISE(ABORT, '{table}: {words}'); END",
)
POSTGRES_FUNCTION = f"""
CREATE FUNCTION knowledge_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' AND {PERMITTED} THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '%: {WORDS}', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
POSTGRES = (
    "CREATE TRIGGER {table}_no_update BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION knowledge_refuse()",
    "CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION knowledge_refuse()",
)


def install(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    schema_editor.execute(PERMIT)
    if vendor == "postgresql":
        schema_editor.execute(POSTGRES_FUNCTION, params=None)  # its % is no placeholder
    for table in TABLES:
        for statement in POSTGRES if vendor == "postgresql" else SQLITE:
            schema_editor.execute(statement.format(table=table, words=WORDS, permitted=PERMITTED))


def remove(apps, schema_editor):
    names = ("no_update", "no_truncate") if schema_editor.connection.vendor == "postgresql" else ("no_update", "no_delete")
    for table in TABLES:
        for name in names:
            on = f" ON {table}" if schema_editor.connection.vendor == "postgresql" else ""
            schema_editor.execute(f"DROP TRIGGER {table}_{name}{on}")
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION knowledge_refuse()")
    schema_editor.execute("DROP TABLE knowledge_flush_permit")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]
