"""Every action asks here first."""

from typing import Any

from django.utils.translation import gettext as _

from incidents.domain.actors import Machine
from incidents.domain.permissions import Scope, allows
from incidents.lib.errors import NotAllowed
from incidents.models import Incident, Node, TimelineEntry, User

Actor = User | Machine


def scope_of(thing: Any) -> Scope:
    """The team and the cluster of an incident, a node, a job or a source; nothing for what belongs nowhere."""
    return Scope(getattr(thing, "team_id", None), getattr(thing, "cluster_id", None))


def may(by: Actor, verb: str, thing: Any = None) -> bool:
    """True if the actor may; a machine may all that our code lets it do."""
    return isinstance(by, Machine) or allows(by.grants(), verb, scope_of(thing))


def require(by: Actor, verb: str, thing: Any = None) -> None:
    """Raise `NotAllowed` unless the matrix lets the actor do this here."""
    if may(by, verb, thing):
        return
    place = f" ({thing})" if isinstance(thing, Incident | Node) else ""
    raise NotAllowed(
        _("%(name)s has no role that allows '%(verb)s' here%(place)s. Ask an administrator for the role.")
        % {"name": by, "verb": verb, "place": place}
    )


def who(request: Any) -> User:
    """Who asks, for a door behind which one is signed in; `NotAllowed` if it was left open."""
    if not isinstance(request.user, User):
        raise NotAllowed(_("Sign in first."))
    return request.user


def voice_of(by: Actor) -> str:
    if isinstance(by, Machine):
        return TimelineEntry.Voice.SOURCE if by.kind == "source" else TimelineEntry.Voice.SICKBAY
    return TimelineEntry.Voice.PERSON


def person(by: Actor) -> User | None:
    """The row of the actor, for a foreign key; None for a machine."""
    return None if isinstance(by, Machine) else by


def name_of(by: Actor) -> str:
    return by.name if isinstance(by, Machine) else str(by)
