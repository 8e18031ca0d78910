"""People, their roles, tokens and sign-in links. What is shown once is returned, only its SHA-256 is kept."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.rights import Actor, require
from incidents.domain.permissions import Role
from incidents.lib import tokens
from incidents.lib.errors import Invalid, Refused
from incidents.models import ApiToken, RoleGrant, SignInLink, User

LINK_LIFE = timedelta(hours=24)


def ensure_administrator(*, by: Actor, at: datetime, username: str = "admin") -> tuple[User, bool]:
    """The first administrator, made without a password if there is none yet; and whether nobody has signed in as one so far."""
    require(by, "people.manage")
    with transaction.atomic():
        admins = User.objects.filter(role_grants__role=Role.ADMINISTRATOR, is_active=True).order_by("id")
        user = admins.first()
        if user is None:
            user = User(username=username, display_name="", is_staff=True, is_superuser=True)
            user.set_unusable_password()
            user.save()
            RoleGrant.objects.create(user=user, role=Role.ADMINISTRATOR)
            journal.audit(user, "user.create", by=by, at=at, after=Role.ADMINISTRATOR)
        nobody_came = not any(admin.has_usable_password() for admin in admins)
    return user, nobody_came


def add_person(username: str, *, display_name: str = "", by: Actor, at: datetime) -> User:
    """A person without a password and without a role; a sign-in link lets her in."""
    require(by, "people.manage")
    user = User(username=username.strip(), display_name=display_name.strip())
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    with transaction.atomic():
        user.set_unusable_password()
        user.save()
        journal.audit(user, "user.create", by=by, at=at)
    return user


def grant(user: User, *, role: str, by: Actor, at: datetime) -> None:
    require(by, "people.manage")
    if role not in set(Role):
        raise Invalid(_("There is no role '%(role)s'. Roles: %(roles)s.") % {"role": role, "roles": ", ".join(Role)})
    with transaction.atomic():
        _row, is_new = RoleGrant.objects.get_or_create(user=user, role=role, team=None, cluster=None)
        if is_new:
            journal.audit(user, "role.grant", by=by, at=at, after=role)


def make_sign_in_link(user: User, *, by: Actor, at: datetime) -> str:
    """The secret of a link that signs the user in once, within 24 hours. Earlier unused links of the user end."""
    require(by, "people.manage")
    secret = tokens.new("sbl")
    with transaction.atomic():
        SignInLink.objects.filter(user=user, used_at=None, expires_at__gt=at).update(expires_at=at)
        SignInLink.objects.create(user=user, digest=secret.digest, created_at=at, expires_at=at + LINK_LIFE)
        journal.audit(user, "sign_in_link.create", by=by, at=at)
    return secret.text


def link_of(secret: str, *, at: datetime) -> SignInLink:
    """The link of this secret; raises `Invalid` in one and the same words if it is unknown, used or too old."""
    link = SignInLink.objects.select_related("user").filter(digest=tokens.digest(secret)).first()
    if link is None or link.used_at or link.expires_at <= at or not link.user.is_active:
        raise Invalid(_("This link was used already, is too old or was never given out. Ask for a new one."))
    return link


def use_link(secret: str, *, at: datetime) -> User:
    """Use the link up and return who may be signed in; of two at once only one gets in."""
    link = link_of(secret, at=at)
    with transaction.atomic():
        if not SignInLink.objects.filter(pk=link.pk, used_at=None).update(used_at=at):
            raise Invalid(_("This link was used already, is too old or was never given out. Ask for a new one."))
        journal.audit(link.user, "sign_in_link.use", by=link.user, at=at)
    return link.user


def make_token(user: User, *, name: str, by: Actor, at: datetime, life: timedelta | None = None) -> str:
    """An API token of the user, shown once. People make their own; administrators and machines make anybody's."""
    if by != user:
        require(by, "token.manage")
    if not user.is_active:
        raise Refused(_("%(user)s is not active.") % {"user": user})
    secret = tokens.new("sbt")
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user,
            name=name[:80],
            prefix=secret.prefix,
            digest=secret.digest,
            created_at=at,
            expires_at=at + life if life else None,
        )
        journal.audit(token, "token.create", by=by, at=at)
    return secret.text


def revoke_token(token: ApiToken, *, by: Actor, at: datetime) -> None:
    if by != token.user:
        require(by, "token.manage")
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=at):
            journal.audit(token, "token.revoke", by=by, at=at)


def set_language(user: User, *, language: str, at: datetime) -> None:
    """The language that the person reads; her own choice needs no role."""
    User.objects.filter(pk=user.pk).exclude(language=language).update(language=language)
