"""What a health checker found, by the words of its reason, else the Xids that they name. Other words say nothing."""

from collections.abc import Iterator
from dataclasses import replace

from diagnostics.engine.judges import gpu_xid_reasons
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.judges.kubernetes import Source
from diagnostics.engine.parsers import health_states
from diagnostics.engine.parsers.health_states import State
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.types import Observation


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    source = Source(document, source_name)
    return [
        seen
        for state in health_states.states(document.value)
        if state.sick
        for seen in source.quoted(state.reason, state.key) or _named(state, source)
    ]


def _named(state: State, source: Source) -> Iterator[Observation]:
    for means, component in gpu_xid_reasons.named(state.reason):
        seen = source.says(means.fault, state.key, state.reason, part=component or "")
        yield replace(seen, confidence="medium", **means.fields())


FORMATS = {
    "health-states": Format(
        "health checks",
        (judge,),
        of(),
        unread="a health checker's own words: only the reasons that are known were read",
    )
}
