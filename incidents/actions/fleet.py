"""Puts nodes and their parts on the books: by enrolment, or because an alert named them."""

import ipaddress
import re
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.rights import Actor, name_of, require
from incidents.domain.actors import SICKBAY
from incidents.domain.hardware import NodeFacts, PartFacts
from incidents.lib.errors import Invalid
from incidents.models import Cluster, LifeCycle, LifeCycleChange, Node, Part

DISCOVERED_IN = "default"
NAME = re.compile(r"[a-z0-9_]([a-z0-9_.:-]{0,251}[a-z0-9_])?")
NO_NAMES = frozenset({"unknown", "none", "null", "n/a", "na", "nil", "undefined", "localhost.localdomain", "localhost"})
LOOPBACK = frozenset({"localhost", "localhost.localdomain", "127.0.0.1", "::1"})
PART_FIELDS = ("model", "serial", "uuid", "pci_address", "attributes")


def enrol(facts: NodeFacts, *, cluster: str, is_local: bool = False, by: Actor, at: datetime) -> Node:
    """The node as it says it is, with its parts. A part with another serial is a swap; one that is not seen stays on the books."""
    require(by, "node.edit")
    with transaction.atomic():
        node = _node(facts, cluster, by=by, at=at)
        node.is_local, node.is_discovered = is_local, False
        node.other_names = sorted({*node.other_names, *facts.other_names} - {node.hostname})
        for name in ("vendor", "product", "serial"):
            setattr(node, name, getattr(facts, name)[:120] or getattr(node, name))
        # What was once counted is expected from then on: a GPU that is gone must not be forgotten.
        node.expected_gpus = node.expected_gpus or facts.gpu_count or None
        node.facts, node.facts_at = dict(facts.facts), at
        node.save()
        for part in facts.parts:
            _put(node, part, by=by, at=at)
    return node


def node_named(name: str, *, at: datetime) -> Node:
    """The node that a source means: by host name, another name, the short form of a full one, an address, with or without a port.

    One that nobody knows is put on the books as discovered. Raises `Invalid` for what is no name, and for a name that several share.
    """
    wanted = clean_name(name)
    if wanted in LOOPBACK:
        return _only_node_here(name)
    found = _lookup(wanted)
    if found:
        return found
    if wanted in NO_NAMES or not NAME.fullmatch(wanted):
        raise Invalid(_("'%(name)s' is not the name of a node.") % {"name": name[:80]})
    return _discover(wanted, at=at)


def clean_name(name: str) -> str:
    """Small letters, without scheme, path, port and brackets: `http://N1.example:9100/metrics` is `n1.example`."""
    text = name.strip().lower().rpartition("://")[2].split("/")[0].rstrip(".")
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text if text.count(":") > 1 else text.partition(":")[0]


def _node(facts: NodeFacts, cluster: str, *, by: Actor, at: datetime) -> Node:
    hostname = facts.hostname.lower()
    known = _lookup(hostname) or next(filter(None, map(_lookup, facts.other_names)), None)
    if known:
        return Node.objects.select_for_update().get(pk=known.pk)
    home, _new = Cluster.objects.get_or_create(name=cluster)
    node = Node.objects.create(cluster=home, hostname=hostname, created_at=at)
    _begin_life(node, by=by, at=at, reason="enrolled")
    return node


def _discover(hostname: str, *, at: datetime) -> Node:
    cluster, _new = Cluster.objects.get_or_create(name=DISCOVERED_IN)
    with transaction.atomic():
        defaults = {"cluster": cluster, "is_discovered": True, "created_at": at}
        node, is_new = Node.objects.get_or_create(hostname=hostname, defaults=defaults)
        if is_new:
            _begin_life(node, by=SICKBAY, at=at, reason="named by an alert")
    return node


def _begin_life(node: Node, *, by: Actor, at: datetime, reason: str) -> None:
    LifeCycleChange.objects.create(node=node, life_cycle=LifeCycle.IN_SERVICE, at=at, by=name_of(by)[:120], reason=reason)
    journal.audit(node, "node.create", by=by, at=at, after={"reason": reason})


def _only_node_here(name: str) -> Node:
    """A loopback name says which machine only while there is but one on the books."""
    enrolled = list(Node.objects.filter(is_discovered=False)[:2])
    if len(enrolled) == 1 and enrolled[0].is_local:
        return enrolled[0]
    raise Invalid(_("'%(name)s' may be any machine. Let the source name the node, such as by a label 'node'.") % {"name": name[:80]})


def _lookup(name: str) -> Node | None:
    exact = Node.objects.filter(hostname=name).first() or _with_other_name(name)
    if exact or not name or _is_address(name):
        return exact
    short, _dot, domain = name.partition(".")
    if domain:
        node = Node.objects.filter(hostname=short).first()
        return node if node and not _has_other_domain(node, short) else None
    return _the_one(name, Node.objects.filter(hostname__startswith=f"{name}.")[:2])


def _with_other_name(name: str) -> Node | None:
    # As text: SQLite cannot ask a JSON list for a member. A name has no quote in it.
    named = Node.objects.annotate(names=Cast("other_names", TextField())).filter(names__contains=f'"{name}"')
    return _the_one(name, named.order_by("pk")[:2])


def _the_one(name: str, nodes: Iterable[Node]) -> Node | None:
    found = list(nodes)
    if len(found) > 1:
        raise Invalid(_("Several nodes are called '%(name)s'. Let the source send the full name.") % {"name": name})
    return found[0] if found else None


def _has_other_domain(node: Node, short: str) -> bool:
    """It has full names, so a full name that is not among them belongs to a namesake elsewhere."""
    return any(name.startswith(f"{short}.") for name in node.other_names)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _put(node: Node, facts: PartFacts, *, by: Actor, at: datetime) -> None:
    values = {name: getattr(facts, name) for name in PART_FIELDS} | {"attributes": dict(facts.attributes)}
    part = node.parts.filter(kind=facts.kind, slot=facts.slot, removed_at=None).first()
    if part and _is_other(part, facts):
        part.removed_at = at
        part.save(update_fields=["removed_at"])
        journal.audit(part, "part.swap", by=by, at=at, before=_identity(part), after={"serial": facts.serial, "uuid": facts.uuid})
        part = None
    if part is None:
        node.parts.create(kind=facts.kind, slot=facts.slot, installed_at=at, **values)
        return
    # What could not be read this time is not forgotten.
    changed = [name for name, value in values.items() if value and value != getattr(part, name)]
    for name in changed:
        setattr(part, name, values[name])
    if changed:
        part.save(update_fields=changed)


def _is_other(part: Part, facts: PartFacts) -> bool:
    pairs = ((part.uuid, facts.uuid), (part.serial, facts.serial))
    return any(old and new and old != new for old, new in pairs)


def _identity(part: Part) -> dict[str, str]:
    return {"serial": part.serial, "uuid": part.uuid}
