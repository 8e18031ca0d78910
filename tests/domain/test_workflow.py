import pytest

from incidents.domain import workflow
from incidents.domain.workflow import MOVES, OPEN_STATES, ROAD, IllegalMove, Move, State


def test_the_straight_road_leads_from_open_to_closed():
    moves = [Move.ACKNOWLEDGE, Move.MITIGATE, Move.START_REPAIR, Move.START_VERIFYING, Move.RESTORE, Move.CLOSE]
    state = State.OPEN
    seen = [state]
    for move in moves:
        state = workflow.after(state, move)
        seen.append(state)
    assert tuple(seen) == ROAD


def test_every_open_state_can_be_merged_or_closed_with_a_disposition_and_no_other_can():
    for state in State:
        for move in (Move.MERGE, Move.CLOSE_WITH_DISPOSITION):
            assert ((state, move) in MOVES) == (state in OPEN_STATES)


def test_nothing_leaves_merged():
    assert workflow.moves_from(State.MERGED) == []


def test_an_illegal_move_says_which_are_legal():
    with pytest.raises(IllegalMove, match="acknowledge"):
        workflow.after(State.OPEN, Move.RESTORE)
