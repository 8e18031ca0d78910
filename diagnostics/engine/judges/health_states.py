"""What a health checker found, by the words of its reason, else the Xids that they name. Other words say nothing."""

from dataclasses import replace

from diagnostics.engine.judges import gpu_xid_reasons
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.kubernetes import Source
from diagnostics.engine.parsers import health_states
from diagnostics.engine.parsers.health_states import State
from diagnostics.engine.parsers.json_text import NEAR, JsonText
from diagnostics.engine.types import EvidenceLine, Observation


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    """States come in the order of the document, so each is looked for behind the one before it."""
    source = Source(document, source_name)
    found: list[Observation] = []
    place = 0
    for state in health_states.states(document.value):
        if state.sick:
            line = document.line_of(state.reason, after=place) or document.locate(state.key, after=place)
            seen = source.quoted(state.reason, state.key) or _named(state, line, source_name)
            found += [replace(one, line=line, order=line.number) for one in seen]
        place = document.end_of(state.reason, place, place + NEAR)
    return found


def _named(state: State, line: EvidenceLine, source_name: str) -> list[Observation]:
    return [
        Observation(means.fault, line, source_name, component=component, confidence="medium", **means.fields())
        for means, component in gpu_xid_reasons.named(state.reason)
    ]


FORMATS = {
    "health-states": Format(
        "health checks",
        (judge,),
        of(),
        unread="a health checker's own words: only the reasons that are known were read",
    )
}
