"""Writes of the fleet: nodes enrolled or discovered, their parts, their life cycle."""

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.rights import Actor, name_of, require
from incidents.domain import fingerprint
from incidents.domain.hardware import NodeFacts, PartFacts
from incidents.lib.errors import Invalid
from incidents.models import Cluster, Job, LifeCycle, LifeCycleChange, Node, Part

HOST = re.compile(r"\w([\w.:-]{0,251}\w)?")  # a label may hold a name that DNS would not
DEFAULT_CLUSTER = "default"
LOOPBACK = frozenset({"localhost", "localhost.localdomain", "127.0.0.1", "::1"})

__all__ = ["NodeFacts", "PartFacts"]  # what `enrol` takes


def default_cluster() -> Cluster:
    return Cluster.objects.get_or_create(name=DEFAULT_CLUSTER)[0]


def clean_name(name: str) -> str:
    """The host of the name, lower case; raises `Invalid` if it cannot be a host name."""
    host = fingerprint.host_of(name).rstrip(".")
    if not HOST.fullmatch(host):
        raise Invalid(_("'%(name)s' is no host name.") % {"name": name[:80]})
    return host


def find_node(name: str) -> Node | None:
    """The node of this name: by host name, by another name of it, or by the short form of either; None if none or several fit."""
    host = clean_name(name)
    exact = Node.objects.filter(hostname=host).first()
    if exact:
        return exact
    for node in Node.objects.exclude(other_names=[]).only("id", "hostname", "other_names", "cluster"):
        if host in node.other_names:
            return Node.objects.get(pk=node.pk)
    if re.fullmatch(r"[0-9.]+|[0-9a-f:]+", host):
        return None  # an address has no short form
    short = host.partition(".")[0]
    candidates = (
        Node.objects.filter(hostname=short) if short != host else Node.objects.filter(hostname__startswith=f"{host}.")
    )
    found = list(candidates[:2])
    return found[0] if len(found) == 1 else None


def node_named(name: str, *, at: datetime) -> Node:
    """The node of this name; one that nobody enrolled is entered as discovered, so that no alert is lost."""
    host = clean_name(name)
    known = find_node(name) or (_only_node() if host in LOOPBACK else None)
    if known:
        return known
    try:
        with transaction.atomic():
            node = Node.objects.create(hostname=host, cluster=default_cluster(), is_discovered=True, created_at=at)
            _enter(node, LifeCycle.IN_SERVICE, by_name="Sickbay", at=at, reason="named by an alert")
    except IntegrityError:  # somebody else discovered it in the same moment
        return Node.objects.get(hostname=host)
    return node


def _only_node() -> Node | None:
    """A loopback name says which machine only while there is but this one on the books."""
    enrolled = list(Node.objects.filter(is_discovered=False)[:2])
    return enrolled[0] if len(enrolled) == 1 and enrolled[0].is_local else None


def job_called(scheduler_id: str, *, cluster: Cluster | None, at: datetime) -> Job:
    """The job with this id of the cluster's scheduler; an unknown one is entered."""
    wanted = scheduler_id.strip()[:120]
    if not wanted:
        raise Invalid(_("The job has no id."))
    return Job.objects.get_or_create(
        cluster=cluster or default_cluster(), scheduler_id=wanted, defaults={"created_at": at}
    )[0]


def part_of(node: Node | None, kind: str, locator: str, uuid: str = "", pci_address: str = "") -> Part | None:
    """The part of the node that an alert means: by UUID, PCI address, then slot; None if the inventory has none."""
    if node is None or kind in {"node", "job"}:
        return None
    parts = list(node.parts.filter(kind=kind, removed_at=None))
    slot = locator.removeprefix("GPU ")
    for fits in (
        lambda part: uuid and part.uuid == uuid,
        lambda part: pci_address and part.pci_address == pci_address,
        lambda part: part.slot == slot,
    ):
        found = next((part for part in parts if fits(part)), None)
        if found:
            return found
    return None


def enrol(facts: NodeFacts, *, by: Actor, at: datetime, cluster: Cluster | None = None, is_local: bool = False) -> Node:
    """Enter the node, or bring it up to date: parts by slot; a changed serial ends one part and begins the next."""
    require(by, "node.edit")
    host = clean_name(facts.hostname)
    with transaction.atomic():
        node = Node.objects.select_for_update().filter(hostname=host).first()
        is_new = node is None
        if node is None:
            node = Node(hostname=host, cluster=cluster or default_cluster(), created_at=at)
        node.other_names = sorted({fingerprint.host_of(name) for name in facts.other_names} - {host, ""})
        for name in ("serial", "vendor", "product"):  # what cannot be read this time is not forgotten
            setattr(node, name, getattr(facts, name)[:120] or getattr(node, name))
        node.facts, node.facts_at = dict(facts.facts), at
        node.is_local, node.is_discovered = is_local, False
        if facts.expected_gpus is not None:
            node.expected_gpus = facts.expected_gpus
        node.save()
        if is_new:
            _enter(node, LifeCycle.IN_SERVICE, by_name=name_of(by), at=at, reason="enrolled")
            journal.audit(node, "node.enrol", by=by, at=at)
        for kind in {part.kind for part in facts.parts}:
            _fit_parts(node, kind, [part for part in facts.parts if part.kind == kind], at=at)
    return node


def _fit_parts(node: Node, kind: str, seen: Sequence[PartFacts], *, at: datetime) -> None:
    """A part that was not seen stays on record: a lost GPU must be known after it is lost."""
    fitted = {part.slot: part for part in node.parts.filter(kind=kind, removed_at=None)}
    for facts in seen:
        part = fitted.get(facts.slot)
        if part and _is_other(part, facts):
            part.removed_at = at
            part.save(update_fields=["removed_at"])
            part = None
        row = part or Part(node=node, kind=kind, slot=facts.slot, installed_at=at)
        row.model, row.pci_address = facts.model or row.model, facts.pci_address or row.pci_address
        row.serial, row.uuid = facts.serial or row.serial, facts.uuid or row.uuid
        row.attributes = dict(facts.attributes)
        row.save()


def _is_other(part: Part, facts: PartFacts) -> bool:
    """Another serial, or another UUID where the serial cannot be read."""
    pairs = ((part.serial, facts.serial), (part.uuid, facts.uuid))
    return any(old and new and old != new for old, new in pairs)


def set_life_cycle(node: Node, *, life_cycle: str, reason: str, by: Actor, at: datetime) -> None:
    """Move the node to another stage of its life; the same stage again changes nothing."""
    require(by, "node.drain", node)
    if life_cycle not in LifeCycle.values:
        raise Invalid(_("Choose one of: %(stages)s.") % {"stages": ", ".join(LifeCycle.values)})
    with transaction.atomic():
        row = Node.objects.select_for_update().get(pk=node.pk)
        if row.life_cycle != life_cycle:
            before = row.life_cycle
            row.life_cycle = life_cycle
            row.save(update_fields=["life_cycle"])
            _enter(row, life_cycle, by_name=name_of(by), at=at, reason=reason)
            journal.audit(row, "node.life_cycle", by=by, at=at, before=before, after=life_cycle)
    node.refresh_from_db()


def _enter(node: Node, life_cycle: str, *, by_name: str, at: datetime, reason: str) -> None:
    LifeCycleChange.objects.create(node=node, life_cycle=life_cycle, at=at, by=by_name[:120], reason=reason[:500])
