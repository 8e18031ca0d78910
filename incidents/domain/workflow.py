"""The states of an incident and the moves between them (architecture, "States of an incident")."""

from enum import StrEnum


class State(StrEnum):
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    MITIGATED = "mitigated"
    REPAIRING = "repairing"
    VERIFYING = "verifying"
    RESTORED = "restored"
    CLOSED = "closed"
    MERGED = "merged"


class Move(StrEnum):
    ACKNOWLEDGE = "acknowledge"
    UNACKNOWLEDGE = "unacknowledge"
    MITIGATE = "mitigate"
    START_REPAIR = "start_repair"
    START_VERIFYING = "start_verifying"
    FAIL_VERIFICATION = "fail_verification"
    RESTORE = "restore"
    CLOSE = "close"
    CLOSE_WITH_DISPOSITION = "close_with_disposition"
    MERGE = "merge"
    REOPEN = "reopen"


class Disposition(StrEnum):
    NOT_A_FAULT = "not_a_fault"
    NO_TROUBLE_FOUND = "no_trouble_found"
    DUPLICATE = "duplicate"
    EXPECTED = "expected"


class IllegalMove(ValueError):
    """The table does not have this move from this state; the text says which moves there are."""

    def __init__(self, state: State, move: Move) -> None:
        self.state, self.move = state, move
        super().__init__(
            f"'{move}' is not possible while the incident is {state}. Possible: {', '.join(moves_from(state))}."
        )


ROAD = (
    State.OPEN,
    State.ACKNOWLEDGED,
    State.MITIGATED,
    State.REPAIRING,
    State.VERIFYING,
    State.RESTORED,
    State.CLOSED,
)
OPEN_STATES = frozenset(ROAD[: ROAD.index(State.RESTORED)])

MOVES: dict[tuple[State, Move], State] = {
    (State.OPEN, Move.ACKNOWLEDGE): State.ACKNOWLEDGED,
    (State.ACKNOWLEDGED, Move.UNACKNOWLEDGE): State.OPEN,
    (State.ACKNOWLEDGED, Move.MITIGATE): State.MITIGATED,
    (State.MITIGATED, Move.START_REPAIR): State.REPAIRING,
    (State.ACKNOWLEDGED, Move.START_VERIFYING): State.VERIFYING,
    (State.MITIGATED, Move.START_VERIFYING): State.VERIFYING,
    (State.REPAIRING, Move.START_VERIFYING): State.VERIFYING,
    (State.VERIFYING, Move.FAIL_VERIFICATION): State.REPAIRING,
    (State.VERIFYING, Move.RESTORE): State.RESTORED,
    (State.RESTORED, Move.CLOSE): State.CLOSED,
    (State.RESTORED, Move.REOPEN): State.OPEN,
    (State.CLOSED, Move.REOPEN): State.OPEN,
    **{(state, Move.CLOSE_WITH_DISPOSITION): State.CLOSED for state in OPEN_STATES},
    **{(state, Move.MERGE): State.MERGED for state in OPEN_STATES},
}


def after(state: str, move: Move) -> State:
    """The state that the move leads to; raises `IllegalMove` where the table has none."""
    try:
        return MOVES[State(state), move]
    except KeyError:
        raise IllegalMove(State(state), move) from None


def moves_from(state: str) -> list[Move]:
    """The moves that the table has from this state, in the order of the table."""
    return [move for (start, move) in MOVES if start == state]
