"""Senders of alerts and what they deliver."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.rights import Actor, require
from incidents.lib import doorbell, tokens
from incidents.lib.errors import Invalid, Refused
from incidents.models import Delivery, Source
from incidents.payloads import PARSERS

KEPT_HEADERS = ("Content-Type", "User-Agent", "Content-Encoding", "X-Request-Id")


@dataclass(frozen=True)
class Received:
    """A request as it came. `is_cut` if the body was longer than the limit."""

    body: bytes
    method: str
    address: str
    headers: Mapping[str, str]
    is_cut: bool = False


def add(name: str, *, kind: str, by: Actor, at: datetime) -> tuple[Source, str]:
    """A new sender and the secret of its address, which is shown once."""
    require(by, "source.manage")
    if kind not in PARSERS:
        raise Invalid(_("There is no kind '%(kind)s'. Kinds: %(kinds)s.") % {"kind": kind, "kinds": ", ".join(PARSERS)})
    if not name.strip():
        raise Invalid(_("Give the source a name."))
    if Source.objects.filter(name=name.strip()).exists():
        raise Refused(_("A source is called '%(name)s' already. Choose another name.") % {"name": name.strip()})
    secret = tokens.new("sbs")
    with transaction.atomic():
        source = Source.objects.create(
            name=name.strip()[:80], kind=kind, prefix=secret.prefix, digest=secret.digest, created_at=at
        )
        journal.audit(source, "source.add", by=by, at=at, after=kind)
    return source, secret.text


def rotate(source: Source, *, by: Actor, at: datetime) -> str:
    """A new secret for the address of the source; the old one ends at once."""
    require(by, "source.manage", source)
    secret = tokens.new("sbs")
    with transaction.atomic():
        source.prefix, source.digest = secret.prefix, secret.digest
        source.save(update_fields=["prefix", "digest"])
        journal.audit(source, "source.rotate", by=by, at=at)
    return secret.text


def revoke(source: Source, *, by: Actor, at: datetime) -> None:
    """Its address answers no more; what it delivered stays."""
    require(by, "source.manage", source)
    with transaction.atomic():
        if Source.objects.filter(pk=source.pk, revoked_at=None).update(revoked_at=at):
            journal.audit(source, "source.revoke", by=by, at=at)


def find(secret: str, *, kind: str) -> Source | None:
    """The source of this address; None if there is none, it was revoked or it is of another kind."""
    return Source.objects.filter(digest=tokens.digest(secret), kind=kind, revoked_at=None).first()


def keep(source: Source, received: Received, *, at: datetime) -> Delivery:
    """Keep the body, durably, before anybody tries to understand it. When this returns, the alert is accepted."""
    headers = {name: received.headers[name][:500] for name in KEPT_HEADERS if received.headers.get(name)}
    with transaction.atomic():
        delivery = Delivery.objects.create(
            source=source,
            received_at=at,
            due_at=at,
            method=received.method[:8],
            address=received.address[:64],
            headers=headers,
            size=len(received.body),
            sha256=hashlib.sha256(received.body).hexdigest(),
            body=received.body,
            is_cut=received.is_cut,
        )
        transaction.on_commit(doorbell.ring)
    return delivery
