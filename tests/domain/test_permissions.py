import pytest

from incidents.domain.permissions import MATRIX, Grant, Role, Scope, allows

EVERYWHERE = Scope()


def test_everybody_may_look_and_nobody_without_a_role_may():
    assert all(allows([Grant(role)], "view") for role in Role)
    assert not allows([], "view")


@pytest.mark.parametrize("verb", sorted(MATRIX))
def test_a_viewer_may_do_nothing_but_look(verb):
    assert allows([Grant(Role.VIEWER)], verb) == (verb == "view")


def test_only_operators_and_administrators_switch_power():
    assert {role for role in Role if allows([Grant(role)], "node.power")} == {Role.OPERATOR, Role.ADMINISTRATOR}


def test_a_grant_of_a_team_reaches_what_the_team_owns_and_no_more():
    grants = [Grant(Role.RESPONDER, teams=frozenset({1}))]
    assert allows(grants, "incident.acknowledge", Scope(team=1))
    assert not allows(grants, "incident.acknowledge", Scope(team=2))
    assert not allows(grants, "incident.acknowledge", EVERYWHERE)


def test_a_misspelt_verb_is_an_error_not_a_permission():
    with pytest.raises(KeyError):
        allows([Grant(Role.ADMINISTRATOR)], "incident.acknowlege")
