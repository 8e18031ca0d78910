"""What follows from news of below."""

from datetime import datetime

from diagnostics import events as diagnostics_events  # noqa: F401  # declares the news that is waited for here
from incidents.events import on
from incidents.models import Event
from knowledge import events as knowledge_events  # noqa: F401  # declares our own news
from knowledge.actions import links


@on("run_finished", "suggest_sops")
def suggest_sops(event: Event, at: datetime) -> None:
    links.suggest_for_run(event.payload["run"], at=at)
