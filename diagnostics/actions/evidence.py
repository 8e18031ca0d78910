"""Keeps evidence: redacted, hashed, compressed, on the disk before its row is written; and reads it back, checked."""

import hashlib
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import zstandard
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from diagnostics.models import DiagnosticRun, Evidence, EvidencePurge
from diagnostics.probes.base import Captured
from diagnostics.probes.redact import redact
from incidents.actions import journal
from incidents.actions.rights import Actor, person, require
from incidents.lib.errors import Invalid, Refused, Unavailable
from incidents.models import User

COMPRESSION_LEVEL = 6


class Damaged(Unavailable):
    """What the disk gives back is not what was kept."""


@dataclass(frozen=True)
class Stored:
    """Bytes that lie on the disk by now; a row may tell of them."""

    captured: Captured
    sha256: str
    size: int
    stored_size: int
    path: str
    redactions: int


def store(captured: Captured) -> Stored:
    """Redact, hash, compress, write. The same bytes lie on the disk once. Raises `Unavailable` where the disk takes nothing."""
    data, redactions = redact(captured.data)
    sha256 = hashlib.sha256(data).hexdigest()
    path = f"{sha256[:2]}/{sha256[2:]}.zst"
    try:
        size = _write(path, data)
    except OSError as error:
        words = {"name": captured.name, "why": error.strerror or error}
        raise Unavailable(
            _("%(name)s cannot be kept now: %(why)s. Make room for evidence and try again.") % words
        ) from error
    return Stored(captured, sha256, len(data), size, path, redactions)


def record(stored: Stored, *, run: DiagnosticRun, probe: str, by: Actor, at: datetime) -> Evidence:
    """The row; the same piece of a run gets one."""
    name = stored.captured.name[:200]
    known = run.evidence.filter(sha256=stored.sha256, probe=probe, name=name).first()
    return known or Evidence.objects.create(
        sha256=stored.sha256,
        size=stored.size,
        stored_size=stored.stored_size,
        name=name,
        media=stored.captured.media[:80],
        node=run.node,
        incident=run.incident,
        run=run,
        probe=probe,
        captured_at=at,
        uploaded_by=person(by),
        path=stored.path,
        redactions=stored.redactions,
    )


def read(row: Evidence) -> bytes:
    """The bytes as they were kept. Raises `Damaged` if they are gone or changed, `Refused` if they were purged."""
    if row.purged_at:
        raise Refused(_("%(name)s was purged. Its hash is %(hash)s.") % {"name": row.name, "hash": row.sha256})
    try:
        with default_storage.open(row.path) as file:
            data = zstandard.ZstdDecompressor().decompress(file.read(), max_output_size=row.size or 1)
    except (OSError, zstandard.ZstdError) as error:
        raise Damaged(_lost(row, str(error))) from error
    if hashlib.sha256(data).hexdigest() != row.sha256:
        raise Damaged(_lost(row, "the hash differs"))
    return data


def purge(row: Evidence, *, reason: str, by: User, at: datetime) -> EvidencePurge:
    """Remove the bytes and leave a tombstone. Bytes that another row shares stay until that is purged too."""
    require(by, "evidence.purge", row.incident or row.node)
    if not reason.strip():
        raise Invalid(_("Say why the evidence is removed."))
    with transaction.atomic():
        tombstone, is_new = EvidencePurge.objects.get_or_create(
            evidence=row, defaults={"at": at, "by": person(by), "reason": reason.strip()[:500]}
        )
        if is_new:
            journal.audit(row, "evidence.purge", by=by, at=at, before={"sha256": row.sha256, "size": row.size})
    if not Evidence.objects.filter(sha256=row.sha256, purge=None).exists():
        default_storage.delete(row.path)
    return tombstone


def _write(name: str, data: bytes) -> int:
    """Write, sync, rename, sync the folder: after a power cut the file is there as a whole or not at all. Returns its size."""
    path = Path(default_storage.path(name))
    packed = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(data)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Always anew, even if it is there: an older copy may be damaged.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(packed)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)
    _sync_folder(path.parent.parent)
    return len(packed)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lost(row: Evidence, why: str) -> str:
    words = {"name": row.name, "hash": row.sha256[:12], "why": why}
    return _("The evidence %(name)s (%(hash)s) cannot be read: %(why)s. Restore it from a backup.") % words
