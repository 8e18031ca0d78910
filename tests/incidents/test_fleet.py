import pytest

from incidents.actions import fleet
from incidents.actions.fleet import NodeFacts, PartFacts
from incidents.domain.actors import SICKBAY
from incidents.lib.errors import Invalid, NotAllowed
from incidents.models import Node

pytestmark = pytest.mark.django_db


def gpus(*serials):
    return tuple(PartFacts("gpu", str(slot), serial=serial) for slot, serial in enumerate(serials))


def test_an_unknown_name_in_an_alert_discovers_a_node(now):
    node = fleet.node_named("GPU-R01-N01:9400", at=now)
    assert (node.hostname, node.is_discovered, node.cluster.name) == ("gpu-r01-n01", True, "default")
    assert [change.life_cycle for change in node.life_cycle_changes.all()] == ["in_service"]


@pytest.mark.parametrize("name", ["n1", "N1:9100", "n1.cluster.example", "10.0.0.7:9100"])
def test_an_enrolled_node_is_found_by_every_name_it_has(name, now):
    node = fleet.enrol(NodeFacts("n1", other_names=("n1.cluster.example", "10.0.0.7")), by=SICKBAY, at=now)
    assert fleet.node_named(name, at=now) == node


def test_a_short_name_that_fits_two_nodes_is_not_guessed(now):
    for domain in ("a.example", "b.example"):
        fleet.enrol(NodeFacts(f"n1.{domain}"), by=SICKBAY, at=now)
    assert fleet.find_node("n1") is None


@pytest.mark.parametrize("name", ["", "   ", "a b", "../etc", "x" * 300, "-", "a\nb"])
def test_what_is_no_host_name_is_refused(name, now):
    with pytest.raises(Invalid):
        fleet.node_named(name, at=now)
    assert not Node.objects.exists()


def test_enrolling_twice_changes_nothing(now):
    for _round in range(2):
        node = fleet.enrol(NodeFacts("n1", parts=gpus("A", "B")), by=SICKBAY, at=now)
    assert node.parts.count() == 2
    assert node.life_cycle_changes.count() == 1


def test_a_swapped_part_keeps_its_slot_and_its_history(now):
    fleet.enrol(NodeFacts("n1", parts=gpus("A", "B")), by=SICKBAY, at=now)
    node = fleet.enrol(NodeFacts("n1", parts=gpus("A", "C")), by=SICKBAY, at=now)
    assert [(part.serial, part.removed_at is None) for part in node.parts.filter(slot="1").order_by("id")] == [
        ("B", False),
        ("C", True),
    ]


def test_a_lost_gpu_stays_on_record(now):
    fleet.enrol(NodeFacts("n1", parts=gpus("A", "B")), by=SICKBAY, at=now)
    node = fleet.enrol(NodeFacts("n1", parts=gpus("A")), by=SICKBAY, at=now)
    assert node.parts.filter(removed_at=None).count() == 2


def test_who_may_only_look_can_neither_enrol_nor_drain(vera, now):
    node = fleet.node_named("n1", at=now)
    with pytest.raises(NotAllowed):
        fleet.enrol(NodeFacts("n2"), by=vera, at=now)
    with pytest.raises(NotAllowed):
        fleet.set_life_cycle(node, life_cycle="draining", reason="x", by=vera, at=now)


def test_each_stage_of_a_life_is_recorded_once(asha, now):
    node = fleet.node_named("n1", at=now)
    for _round in range(2):
        fleet.set_life_cycle(node, life_cycle="draining", reason="Xid 79", by=asha, at=now)
    assert [change.life_cycle for change in node.life_cycle_changes.all()] == ["in_service", "draining"]
