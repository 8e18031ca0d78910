"""The SOPs that ship, brought into the database: all of them or none."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from incidents.actions.rights import Actor, name_of, require
from incidents.domain.actors import SICKBAY
from incidents.lib.errors import Invalid
from knowledge import queries
from knowledge.actions import revisions
from knowledge.domain import sop_format
from knowledge.domain.front_matter import LANGUAGES
from knowledge.domain.sop_format import Document
from knowledge.models import Sop, SopRevision

FOLDER = Path(__file__).resolve().parent.parent / "library"
SOURCE_LANGUAGE = "en"


class Fate(StrEnum):
    LOADED = "loaded"
    UNCHANGED = "unchanged"
    KEPT = "kept"  # the site has a later revision of its own, or took the SOP back


@dataclass(frozen=True)
class LoadReport:
    """What a load did, or would do: the fate of each file, as (slug, language)."""

    fates: tuple[tuple[str, str, Fate], ...]

    def count(self, fate: Fate) -> int:
        return sum(one == fate for _slug, _language, one in self.fates)


@dataclass(frozen=True)
class LibraryFile:
    path: Path
    language: str
    text: str
    document: Document


def load(*, at: datetime, by: Actor = SICKBAY, folder: Path = FOLDER, dry: bool = False) -> LoadReport:
    """Publish what is new in `folder` (one folder per language). A site's own later revision is never overwritten.

    Raises Invalid with file and line of every mistake; nothing is written then.
    """
    require(by, "sop.publish")
    files = list(read(folder))
    with transaction.atomic():
        fates = tuple((file.document.head.id, file.language, _load_one(file, at=at)) for file in files)
        if dry:
            transaction.set_rollback(True)
    return LoadReport(fates)


def read(folder: Path = FOLDER) -> Iterator[LibraryFile]:
    """The files of a library, source language first, each parsed and each translation held against its source."""
    problems: list[str] = []
    found: dict[tuple[str, str], LibraryFile] = {}
    for language in LANGUAGES:
        for path in sorted((folder / language).glob("*.md")):
            file = _parsed(path, language, problems)
            if file:
                found[language, file.document.head.id] = file
    problems.extend(_translation_problems(found))
    if problems:
        raise Invalid("\n".join(problems))
    yield from found.values()


def check(path: Path) -> list[str]:
    """What is wrong with a file, or with every SOP under a folder; each problem with its file and line."""
    files = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    problems: list[str] = []
    if not files:
        problems.append(_("%(path)s holds no *.md file.") % {"path": path})
    for file in files:
        _parsed(file, file.parent.name, problems)
    if path.is_dir() and not problems and any((path / language).is_dir() for language in LANGUAGES):
        try:
            list(read(path))
        except Invalid as error:
            problems.append(str(error))
    return problems


def _parsed(path: Path, language: str, problems: list[str]) -> LibraryFile | None:
    try:
        text = path.read_bytes().decode()
        return LibraryFile(path, language, text, revisions.checked(text))
    except UnicodeDecodeError as error:
        problems.append(f"{path}: byte {error.start}: the file is not UTF-8; save it as UTF-8.")
    except OSError as error:
        problems.append(f"{path}: {error.strerror}.")
    except Invalid as error:
        problems.extend(f"{path}: {line}" for line in str(error).splitlines())
    return None


def _translation_problems(found: dict[tuple[str, str], LibraryFile]) -> Iterator[str]:
    for (language, slug), file in found.items():
        if file.path.stem != slug:
            yield f"{file.path}: the file must be called {slug}.md, as its id."
        source = found.get((SOURCE_LANGUAGE, slug))
        if source is None:
            yield f"{file.path}: there is no {SOURCE_LANGUAGE}/{slug}.md that it could translate."
        elif language != SOURCE_LANGUAGE:
            differences = sop_format.structure_differences(source.document, file.document)
            yield from (f"{file.path}: {difference}." for difference in differences)


def _load_one(file: LibraryFile, *, at: datetime) -> Fate:
    head = file.document.head
    values = {"owner": head.owner, "source_language": SOURCE_LANGUAGE, "created_at": at}
    sop, _created = Sop.objects.get_or_create(slug=head.id, defaults=values)
    newest = queries.newest_revision(sop, file.language)
    if newest and newest.content_sha256 == revisions.sha256(file.text):
        return Fate.UNCHANGED
    if sop.status in (Sop.Status.WITHDRAWN, Sop.Status.RETIRED) or (newest and not _is_ours(newest)):
        return Fate.KEPT
    revision = revisions.add(
        sop,
        file.document,
        file.text,
        language=file.language,
        base=newest.number if newest else 0,
        change_note="From the library that ships with Sickbay",
        by=SICKBAY,
        at=at,
    )
    revisions.publish(revision, by=SICKBAY, at=at)
    return Fate.LOADED


def _is_ours(revision: SopRevision) -> bool:
    return revision.author_id is None and revision.author_name == name_of(SICKBAY)
