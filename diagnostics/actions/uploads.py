"""Evidence that a person or a machine gives: kept at once, judged by the worker like what a probe read."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from diagnostics.actions import evidence
from diagnostics.actions.runs import note
from diagnostics.actions.verifying import repair_began_at
from diagnostics.engine.limited import CannotRun
from diagnostics.engine.parsers.text import is_binary
from diagnostics.engine.types import Part
from diagnostics.engine.unpacking import CannotUnpack, is_packed, unpack_limited
from diagnostics.models import DiagnosticRun, Evidence, ProbeResult
from diagnostics.probes.base import Captured
from incidents.actions.rights import Actor, name_of, person, require
from incidents.domain.workflow import State as IncidentState
from incidents.lib import doorbell
from incidents.lib.errors import Invalid, Unavailable
from incidents.models import Incident, Node

UPLOAD = "upload"  # stands where the others have the name of a probe
UNNAMED = "evidence.txt"
LEFT_OUT_NAMED = 5
UNPACKED_TIMES = 4  # a packed file may hold so many times what may be sent


def add_evidence(
    *, incident: Incident | None = None, node: Node | None = None, name: str, data: bytes, by: Actor, at: datetime
) -> Evidence:
    """Keep the bytes and have them judged in a run of their own. `name` is shown, never opened.

    Of an archive each text becomes a piece of evidence of the same run; the first is returned.
    """
    require(by, "evidence.add", incident or node)
    if incident is None and node is None:
        raise Invalid(_("Say to which incident or node the evidence belongs."))
    _check_size(data)
    pieces, lacking = _pieces(safe_name(name), data)
    kept = [evidence.store(captured) for captured in pieces]
    with transaction.atomic():
        run = _run(incident, node or (incident.node if incident else None), lacking=lacking, by=by, at=at)
        rows = [evidence.record(stored, run=run, probe=UPLOAD, by=by, at=at) for stored in kept]
        if incident:
            _tell(incident, safe_name(name), rows, by=by, at=at)
        transaction.on_commit(doorbell.ring)
    return rows[0]


def _tell(incident: Incident, name: str, rows: list[Evidence], *, by: Actor, at: datetime) -> None:
    """One entry, however many files an archive holds."""
    first = rows[0]
    told: dict[str, Any] = {"evidence": first.pk, "size": sum(row.size for row in rows), "run": first.run_id}
    if len(rows) == 1:
        note(incident, "evidence_added", by=by, at=at, name=first.name, **told)
    else:
        note(incident, "archive_added", by=by, at=at, name=name, files=len(rows), **told)


def _pieces(name: str, data: bytes) -> tuple[list[Captured], str]:
    """What is kept (the file, or what a packed one holds: secrets can only be taken out of text), and what that lacks."""
    if not is_packed(data):
        return [Captured(name, "application/octet-stream" if is_binary(data) else "text/plain", data)], ""
    most = UNPACKED_TIMES * settings.EVIDENCE_UPLOAD_MAX_BYTES
    try:
        unpacked = unpack_limited(data, most_bytes=most)
    except CannotUnpack as error:
        words = {"name": name, "reason": error}
        raise Invalid(
            _("%(name)s cannot be unpacked: %(reason)s. Unpack it and send the log itself.") % words
        ) from error
    except CannotRun as error:
        words = {"name": name, "reason": error}
        raise Unavailable(
            _("%(name)s: %(reason)s. Try again in a few minutes, or unpack it and send the log itself.") % words
        ) from error
    texts = [part for part in unpacked.parts if part.data.strip() and not is_binary(part.data)]
    lacking = "; ".join((*(f"{one.name}: {one.reason}" for one in unpacked.problems), *_left_out(unpacked.parts)))
    if not texts:
        words = {"name": name, "reason": lacking or _("there is no text in it")}
        raise Invalid(_("%(name)s cannot be unpacked: %(reason)s. Unpack it and send the log itself.") % words)
    names = [name] if len(texts) == 1 else _different([safe_path(f"{name}/{part.name}") for part in texts])
    pieces = [Captured(one, "text/plain", part.data) for one, part in zip(names, texts, strict=True)]
    return pieces, lacking


def _left_out(parts: tuple[Part, ...]) -> Iterator[str]:
    """What is no text is not kept, for no secret could be taken out of it."""
    names = [part.name for part in parts if is_binary(part.data)]
    if names:
        more = "" if len(names) <= LEFT_OUT_NAMED else ", ..."
        yield f"left out as no text: {', '.join(names[:LEFT_OUT_NAMED])}{more}"


def _different(names: list[str]) -> list[str]:
    """A name tells which evidence is meant, so that two files of one name get numbers."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name[-190:]} ({seen[name]})")
    return found


def safe_name(name: str) -> str:
    """The last part of the name as it was given, without what a terminal or a header would obey."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return "".join(character for character in last if character.isprintable())[-200:].strip() or UNNAMED


def safe_path(name: str) -> str:
    """The name of a file in an archive, shown with its folders and never opened."""
    return (
        "/".join(safe_name(piece) for piece in PurePosixPath(name).parts if piece not in ("/", ".."))[-200:] or UNNAMED
    )


def _check_size(data: bytes) -> None:
    limit = settings.EVIDENCE_UPLOAD_MAX_BYTES
    if not data.strip():
        raise Invalid(_("The file is empty. Choose the file that holds the log."))
    if len(data) > limit:
        words = {"size": len(data) // 1024**2, "limit": limit // 1024**2}
        raise Invalid(
            _("The file has %(size)d MiB; up to %(limit)d MiB are taken. Send the part around the failure.") % words
        )


def _run(incident: Incident | None, node: Node | None, *, lacking: str, by: Actor, at: datetime) -> DiagnosticRun:
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
        probe=UPLOAD,
        version="1",
        state=ProbeResult.State.DONE,
        due_at=at,
        started_at=at,
        finished_at=at,
        worker="web",
        reason=lacking[:500],
    )
    return run
