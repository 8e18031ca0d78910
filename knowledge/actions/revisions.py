"""Writes of SOPs: a new revision, published, withdrawn, retired. A revision is added, never edited."""

import hashlib
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from diagnostics.probes.table import PROBES
from incidents import events
from incidents.actions import journal
from incidents.actions.rights import Actor, name_of, person, require
from incidents.domain.actors import Machine
from incidents.lib.errors import Invalid, NotAllowed, Refused
from incidents.models import User
from knowledge import queries
from knowledge.domain import sop_format
from knowledge.domain.front_matter import LANGUAGES
from knowledge.domain.problems import FormatError, Problem
from knowledge.domain.sop_format import Document
from knowledge.models import Draft, FaultLink, Publication, PublishEvent, Sop, SopRevision, Step


def checked(text: str) -> Document:
    """The document of a text; raises Invalid with every problem and its line, unknown probes included."""
    try:
        document = sop_format.parse(text)
        unknown = _unknown_probes(document)
        if unknown:
            raise FormatError(unknown)
    except FormatError as error:
        raise Invalid(str(error)) from error
    return document


def _unknown_probes(document: Document) -> list[Problem]:
    known = {f"{spec.id}@{spec.version}" for spec in PROBES.values()}
    return [
        Problem(
            step.line,
            f"step {step.key}: there is no probe {step.spec['probe']}; the probes are {', '.join(sorted(known))}.",
        )
        for step in document.steps
        if "probe" in step.spec and step.spec["probe"] not in known
    ]


def create(*, text: str, language: str, change_note: str = "", by: Actor, at: datetime) -> SopRevision:
    """The first revision of a new SOP; the `id` of its front matter must be free."""
    require(by, "sop.write")
    text = _tidy(text)
    document = checked(text)
    try:
        with transaction.atomic():
            sop = Sop.objects.create(
                slug=document.head.id, owner=document.head.owner, source_language=language, created_at=at
            )
            return add(sop, document, text, language=language, base=0, change_note=change_note, by=by, at=at)
    except IntegrityError as error:
        raise Refused(
            _("There is a SOP '%(slug)s' already. Edit that one, or choose another id.") % {"slug": document.head.id}
        ) from error


def save(
    sop: Sop, *, text: str, language: str, base: int, change_note: str = "", by: User, at: datetime
) -> SopRevision:
    """A new revision upon number `base` (0 for the first of a language).

    Raises Refused if somebody saved meanwhile and Invalid for a text with mistakes; in both cases the text is kept as a draft.
    A text that changes nothing makes no revision.
    """
    require(by, "sop.write", sop)
    if language not in LANGUAGES:
        raise Invalid(_("The languages are %(languages)s.") % {"languages": ", ".join(LANGUAGES)})
    text = _tidy(text)
    keep_draft(sop, text=text, language=language, base=base, by=by, at=at)
    document = checked(text)
    if document.head.id != sop.slug:
        raise Invalid(_("line 3: the id of this SOP is %(slug)s and never changes.") % {"slug": sop.slug})
    newest = queries.newest_revision(sop, language)
    try:
        with transaction.atomic():
            if newest is None or newest.number != base or newest.content_sha256 != sha256(text):
                newest = add(sop, document, text, language=language, base=base, change_note=change_note, by=by, at=at)
            sop.drafts.filter(user=by, language=language).delete()
    except IntegrityError as error:
        raise _overtaken(sop, language) from error
    return newest


def keep_draft(sop: Sop, *, text: str, language: str, base: int, by: User, at: datetime) -> Draft:
    """The person's unfinished text, one per language; it outlives a refused save."""
    require(by, "sop.write", sop)
    values = {"base": base, "body": text, "updated_at": at}
    return Draft.objects.update_or_create(sop=sop, language=language, user=by, defaults=values)[0]


def _overtaken(sop: Sop, language: str) -> Refused:
    newest = queries.newest_revision(sop, language)
    return Refused(
        _(
            "%(name)s saved revision %(number)s meanwhile. Your text is kept as your draft; compare the two and save again."
        )
        % {"name": newest.author_name if newest else "?", "number": newest.number if newest else "?"}
    )


def add(
    sop: Sop, document: Document, text: str, *, language: str, base: int, change_note: str, by: Actor, at: datetime
) -> SopRevision:
    """The row with its steps, inside the caller's transaction; raises IntegrityError if number base + 1 is taken."""
    newest = queries.newest_revision(sop, language)
    if base != (newest.number if newest else 0):
        raise IntegrityError(f"{sop} {language}: {base} is not the newest")
    revision = SopRevision.objects.create(
        sop=sop,
        language=language,
        number=base + 1,
        parent=newest,
        based_on=_source_of(sop, document, language),
        title=document.head.title_in(language),
        body=text,
        content_sha256=sha256(text),
        author=person(by),
        author_name=name_of(by)[:120],
        created_at=at,
        change_note=change_note[:500],
    )
    Step.objects.bulk_create(
        Step(
            revision=revision,
            key=step.key,
            position=step.position,
            title=step.title[:300],
            type=step.type,
            spec=step.spec,
            prose=step.prose,
            sha256=step.sha256,
        )
        for step in document.steps
    )
    return revision


def _source_of(sop: Sop, document: Document, language: str) -> SopRevision | None:
    """What a translation follows: the newest source revision; refused if it changed more than the words."""
    if language == sop.source_language:
        return None
    source = queries.newest_revision(sop, sop.source_language)
    if source is None:
        raise Refused(
            _("Write the SOP in its source language (%(language)s) first.") % {"language": sop.source_language}
        )
    differences = sop_format.structure_differences(sop_format.parse(source.body), document)
    if differences:
        raise Refused(
            _("A translation changes words only. It differs from revision %(n)s.") % {"n": source.number}, differences
        )
    return source


def publish(revision: SopRevision, *, by: Actor, at: datetime, reason: str = "") -> None:
    """Make it the revision that people are given from now on. What was pinned before stays pinned."""
    sop = revision.sop
    require(by, "sop.publish", sop)
    if queries.is_published(revision):
        return
    _refuse_old(revision)
    if sha256(revision.body) != revision.content_sha256:
        raise Refused(
            _("The text of %(revision)s is not the one that was saved (its hash differs).") % {"revision": revision}
        )
    document = checked(revision.body)
    if document.has_actions and not isinstance(by, Machine) and revision.author_id == by.pk:
        raise NotAllowed(_("A SOP with action steps is published by somebody else than its author."))
    with transaction.atomic():
        Publication.objects.update_or_create(
            sop=sop, language=revision.language, defaults={"revision": revision, "at": at}
        )
        if revision.language == sop.source_language:
            _follow_front_matter(sop, document)
        sop.status = Sop.Status.PUBLISHED
        sop.save()
        _record(revision, PublishEvent.Action.PUBLISH, reason=reason, by=by, at=at)


def _refuse_old(revision: SopRevision) -> None:
    if revision.sop.status == Sop.Status.RETIRED:
        raise Refused(_("%(sop)s is retired. Write a new SOP.") % {"sop": revision.sop})
    if queries.is_withdrawn(revision):
        raise Refused(
            _("%(revision)s was withdrawn. Save a corrected text as a new revision.") % {"revision": revision}
        )
    later = revision.sop.publications.filter(language=revision.language, revision__number__gt=revision.number).first()
    if later:
        raise Refused(
            _("Revision %(n)s is published. Save this text as a new revision to restore it.")
            % {"n": later.revision.number}
        )


def _follow_front_matter(sop: Sop, document: Document) -> None:
    sop.owner = document.head.owner
    sop.fault_links.exclude(fault__in=document.head.faults).delete()
    for place, fault in enumerate(document.head.faults):
        FaultLink.objects.update_or_create(sop=sop, fault=fault, defaults={"priority": place})


def withdraw(revision: SopRevision, *, reason: str, by: User, at: datetime) -> None:
    """Take back a revision that does harm, and its translations: it is no longer suggested, and its action steps stop."""
    require(by, "sop.publish", revision.sop)
    if not reason.strip():
        raise Invalid(_("Say why it is withdrawn; those who work by it will read it."))
    if queries.is_withdrawn(revision):
        return
    with transaction.atomic():
        for one in (revision, *revision.translations.all()):
            Publication.objects.filter(revision=one).delete()
            _record(one, PublishEvent.Action.WITHDRAW, reason=reason.strip(), by=by, at=at)
        if not revision.sop.publications.exists():
            Sop.objects.filter(pk=revision.sop_id).update(status=Sop.Status.WITHDRAWN)


def retire(sop: Sop, *, reason: str, by: User, at: datetime) -> None:
    """The SOP is over: it stays readable and is suggested no more."""
    require(by, "sop.publish", sop)
    if not reason.strip():
        raise Invalid(_("Say why it is retired."))
    with transaction.atomic():
        published = [publication.revision for publication in sop.publications.select_related("revision")]
        sop.publications.all().delete()
        Sop.objects.filter(pk=sop.pk).update(status=Sop.Status.RETIRED)
        for revision in published:
            _record(revision, PublishEvent.Action.RETIRE, reason=reason.strip(), by=by, at=at)
    sop.refresh_from_db()


def _record(revision: SopRevision, action: PublishEvent.Action, *, reason: str, by: Actor, at: datetime) -> None:
    PublishEvent.objects.create(
        revision=revision, action=action, reason=reason, by=person(by), by_name=name_of(by)[:120], at=at
    )
    journal.audit(revision, f"sop.{action}", by=by, at=at, after={"sha256": revision.content_sha256, "reason": reason})
    events.announce(
        "revision_published",
        at=at,
        revision=revision.pk,
        sop=revision.sop.slug,
        language=revision.language,
        action=action,
    )


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _tidy(text: str) -> str:
    """Browsers send CRLF; files have LF and end with one."""
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"
