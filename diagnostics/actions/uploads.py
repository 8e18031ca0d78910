"""Evidence that a person or a machine gives: kept at once, judged by the worker like what a probe read."""

from datetime import datetime
from pathlib import PurePosixPath

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from diagnostics.actions import evidence
from diagnostics.actions.runs import note
from diagnostics.actions.verifying import repair_began_at
from diagnostics.engine.parsers.text import is_binary
from diagnostics.models import DiagnosticRun, Evidence, ProbeResult
from diagnostics.probes.base import Captured
from incidents.actions.rights import Actor, name_of, person, require
from incidents.domain.workflow import State as IncidentState
from incidents.lib import doorbell
from incidents.lib.errors import Invalid
from incidents.models import Incident, Node

UPLOAD = "upload"  # stands where the others have the name of a probe
UNNAMED = "evidence.txt"


def add_evidence(
    *, incident: Incident | None = None, node: Node | None = None, name: str, data: bytes, by: Actor, at: datetime
) -> Evidence:
    """Keep the bytes and have them judged in a run of their own. `name` is shown, never opened."""
    require(by, "evidence.add", incident or node)
    if incident is None and node is None:
        raise Invalid(_("Say to which incident or node the evidence belongs."))
    _check_size(data)
    captured = Captured(safe_name(name), "application/octet-stream" if is_binary(data) else "text/plain", data)
    stored = evidence.store(captured)
    with transaction.atomic():
        run = _run(incident, node or (incident.node if incident else None), by=by, at=at)
        row = evidence.record(stored, run=run, probe=UPLOAD, by=by, at=at)
        if incident:
            note(incident, "evidence_added", by=by, at=at, evidence=row.pk, name=row.name, size=row.size, run=run.pk)
        transaction.on_commit(doorbell.ring)
    return row


def safe_name(name: str) -> str:
    """The last part of the name as it was given, without what a terminal or a header would obey."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return "".join(character for character in last if character.isprintable())[-200:].strip() or UNNAMED


def _check_size(data: bytes) -> None:
    limit = settings.EVIDENCE_UPLOAD_MAX_BYTES
    if not data.strip():
        raise Invalid(_("The file is empty. Choose the file that holds the log."))
    if len(data) > limit:
        words = {"size": len(data) // 1024**2, "limit": limit // 1024**2}
        raise Invalid(
            _("The file has %(size)d MiB; up to %(limit)d MiB are taken. Send the part around the failure.") % words
        )


def _run(incident: Incident | None, node: Node | None, *, by: Actor, at: datetime) -> DiagnosticRun:
    """A run whose only probe is done: what is left is to judge it."""
    run = DiagnosticRun.objects.create(
        incident=incident,
        node=node,
        plan=UPLOAD,
        purpose=DiagnosticRun.Purpose.UPLOAD,
        since=repair_began_at(incident) if incident and incident.state == IncidentState.VERIFYING else None,
        state=DiagnosticRun.State.RUNNING,
        requested_by=person(by),
        requested_by_name=name_of(by)[:120],
        created_at=at,
        started_at=at,
    )
    run.probes.create(
        probe=UPLOAD, version="1", state=ProbeResult.State.DONE, due_at=at, started_at=at, finished_at=at, worker="web"
    )
    return run
