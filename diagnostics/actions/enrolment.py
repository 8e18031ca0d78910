"""Puts the machine that Sickbay runs on on the books."""

from datetime import datetime

from diagnostics.probes import inventory
from diagnostics.probes.base import Context, Transport
from diagnostics.probes.transports.local import Local
from incidents.actions import fleet
from incidents.actions.rights import Actor
from incidents.models import Node

CLUSTER = "local"


def enrol_local(*, by: Actor, at: datetime, transport: Transport | None = None) -> Node:
    """This machine as it is now; called again it brings the row up to date."""
    facts = inventory.read(Context(transport or Local()))
    return fleet.enrol(facts, cluster=CLUSTER, is_local=True, by=by, at=at)
