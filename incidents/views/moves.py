"""The buttons of an incident: which there are, which can be pressed, and why not."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from incidents.actions.lifecycle import REOPEN_WINDOW
from incidents.actions.rights import may
from incidents.domain import faults
from incidents.domain.workflow import OPEN_STATES, Move, State, moves_from
from incidents.models import Incident, User

Words = str | Promise


@dataclass(frozen=True)
class Button:
    """One verb. `dialog` names the dialog that asks for more first; `fits` says whether the state allows it."""

    verb: str
    right: str
    words: Words
    icon: str
    fits: Callable[[Incident], bool]
    key: str = ""
    dialog: str = ""


@dataclass(frozen=True)
class Offer:
    """A button as a page shows it: `why` it cannot be pressed, empty if it can."""

    button: Button
    why: str
    primary: bool = False


def _by(move: Move) -> Callable[[Incident], bool]:
    return lambda incident: move in moves_from(incident.state)


def _open(incident: Incident) -> bool:
    return incident.state in OPEN_STATES


def _can_vouch(incident: Incident) -> bool:
    return incident.state == State.VERIFYING and faults.get(incident.fault).verify != "probe"


def _can_reopen(incident: Incident) -> bool:
    """Within 72 hours; later only a new incident is possible, and a button that is always refused helps nobody."""
    ended = incident.restored_at or incident.closed_at
    return Move.REOPEN in moves_from(incident.state) and ended is not None and timezone.now() - ended <= REOPEN_WINDOW


def _can_close(incident: Incident) -> bool:
    return incident.state == State.RESTORED or _open(incident)


ROAD = (
    Button("acknowledge", "incident.acknowledge", gettext_lazy("Acknowledge"), "check", _by(Move.ACKNOWLEDGE), "a"),
    Button(
        "mitigate", "incident.move", gettext_lazy("Mark as mitigated…"), "flag", _by(Move.MITIGATE), "m", "mitigate"
    ),
    Button("start_repair", "incident.move", gettext_lazy("Start repair"), "edit", _by(Move.START_REPAIR), "r"),
    Button("start_verifying", "incident.move", gettext_lazy("Start verifying"), "play", _by(Move.START_VERIFYING), "v"),
    Button("vouch", "incident.move", gettext_lazy("Say that it holds…"), "check", _can_vouch, "", "vouch"),
    Button("restore", "incident.move", gettext_lazy("Restore"), "check", _by(Move.RESTORE), "e"),
    Button("close", "incident.close", gettext_lazy("Close…"), "x", _can_close, "x", "close"),
    Button("reopen", "incident.move", gettext_lazy("Reopen…"), "replay", _can_reopen, "", "reopen"),
)
MORE = (
    Button("take", "incident.assign", gettext_lazy("Take it"), "user", _open, "o"),
    Button("assign", "incident.assign", gettext_lazy("Assign…"), "team", lambda incident: True, "", "assign"),
    Button("severity", "incident.reclassify", gettext_lazy("Change severity…"), "warn", _open, "", "severity"),
    Button("cause", "incident.reclassify", gettext_lazy("Set the cause…"), "flag", lambda incident: True, "", "cause"),
    Button("wait", "incident.move", gettext_lazy("Mark as waiting…"), "clock", _open, "", "wait"),
    Button("merge", "incident.merge", gettext_lazy("Merge into another…"), "link", _by(Move.MERGE), "", "merge"),
    Button(
        "clock", "incident.edit_clock", gettext_lazy("Correct a clock…"), "clock", lambda incident: True, "", "clock"
    ),
    Button(
        "unacknowledge",
        "incident.acknowledge",
        gettext_lazy("Give it back, not acknowledged"),
        "swap",
        _by(Move.UNACKNOWLEDGE),
    ),
)
NEXT = {
    State.OPEN: "acknowledge",
    State.ACKNOWLEDGED: "mitigate",
    State.MITIGATED: "start_repair",
    State.REPAIRING: "start_verifying",
    State.VERIFYING: "restore",
    State.RESTORED: "close",
}


def road(incident: Incident, user: User) -> list[Offer]:
    """The moves along the road that can be made now, the next sensible one first; what the role never has is absent."""
    wanted = NEXT.get(State(incident.state), "")
    offers = [
        Offer(button, "", primary=button.verb == wanted)
        for button in ROAD
        if button.fits(incident) and may(user, button.right, incident)
    ]
    return sorted(offers, key=lambda offer: not offer.primary)


def more(incident: Incident, user: User) -> list[Offer]:
    """The menu: everything else, disabled with the reason where the state does not allow it."""
    return [Offer(button, _why(button, incident)) for button in MORE if may(user, button.right, incident)]


def _why(button: Button, incident: Incident) -> str:
    if button.fits(incident):
        return ""
    return _("Not possible while the incident is %(state)s.") % {"state": incident.get_state_display()}
