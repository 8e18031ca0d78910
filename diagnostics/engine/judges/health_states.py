"""What a health checker found, by the words of its reason. A reason that no signature knows says nothing."""

from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.kubernetes import Source
from diagnostics.engine.parsers import health_states
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.types import Observation


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    source = Source(document, source_name)
    return [
        seen
        for state in health_states.states(document.value)
        if state.sick
        for seen in source.quoted(state.reason, state.key)
    ]


FORMATS = {
    "health-states": Format(
        "health checks",
        (judge,),
        of(),
        unread="a health checker's own words: only the reasons that are known were read",
    )
}
