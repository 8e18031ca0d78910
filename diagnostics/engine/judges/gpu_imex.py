"""The NVLink domain as its IMEX service sees it: a member that is not ready keeps jobs from using memory across nodes."""

from collections.abc import Iterable

from diagnostics.engine.parsers import imex as parser
from diagnostics.engine.parsers.imex import State
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation

_WELL = {"domain": ("UP",), "node": ("READY",)}
_PASSING = (
    "INITIALIZING",
    "STARTING_AUTH_SERVER",
    "WAITING_FOR_PEERS",
    "INIT_GPU",
    "SHUTTING_DOWN",
)  # states of a start


def judge(log: Log, *, source_name: str) -> list[Observation]:
    return _judge(parser.states(log.text), source_name)


def judge_json(document: JsonText, *, source_name: str) -> list[Observation]:
    found = _judge(parser.states_of(document.value), source_name)
    return [
        Observation(
            seen.fault, document.locate("status", value=f'"{seen.detail}"'), source_name, role=seen.role, component=seen.component,
            detail=seen.detail,
        )
        for seen in found
    ]  # fmt: skip


def _judge(states: Iterable[State], source_name: str) -> list[Observation]:
    """The domain's own state is the finding, its members say where; members alone (a cut print) stand for themselves."""
    known = list(states)
    has_domain = any(one.what == "domain" and one.state for one in known)
    return [
        Observation(
            "gpu.imex", EvidenceLine(one.number, one.raw), source_name,
            role="note" if one.state in _PASSING or (has_domain and one.what == "node" and _is_up(known)) else "root",
            component=one.name or None, detail=one.state, order=one.number,
        )
        for one in known
        if one.state and one.state not in _WELL[one.what]
    ]  # fmt: skip


def _is_up(states: Iterable[State]) -> bool:
    return any(one.what == "domain" and one.state == "UP" for one in states)
