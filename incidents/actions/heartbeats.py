"""Signs of life of the parts of Sickbay, for `readyz` and the banner."""

from datetime import datetime

from incidents.models import Heartbeat


def beat(name: str, *, at: datetime) -> None:
    Heartbeat.objects.update_or_create(name=name, defaults={"at": at})
