"""What every source is turned into."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

FRACTION = re.compile(r"\.(\d+)")
OFFSET = re.compile(r"([+-]\d{2})(\d{2})$")


class NotUnderstood(ValueError):
    """The body is not what this source sends; the text says what was found and what was expected."""


@dataclass(frozen=True)
class NormalAlert:
    """One alert of one body. `starts_at` and `ends_at` are aware; None where the source gave none (the zero time)."""

    fingerprint: str
    firing: bool
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: datetime | None
    ends_at: datetime | None
    severity_hint: str = ""
    summary: str = ""
    is_heartbeat: bool = False


@dataclass(frozen=True)
class Payload:
    """The alerts of a body; `truncated` were cut off by the sender; `problems` names the members that could not be read."""

    alerts: tuple[NormalAlert, ...]
    truncated: int = 0
    problems: tuple[str, ...] = field(default=())


Parser = Callable[[bytes], Payload]


def moment(text: object) -> datetime | None:
    """RFC 3339 as senders write it: nanoseconds, `Z`, `+03:00`, `+0300`. None for nothing, garbage and the zero time."""
    if not isinstance(text, str) or not text.strip():
        return None
    cleaned = OFFSET.sub(r"\1:\2", text.strip().replace("z", "Z").replace("Z", "+00:00"))
    cleaned = FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), cleaned, count=1)
    try:
        value = datetime.fromisoformat(cleaned)
    except ValueError:
        return None
    value = value if value.tzinfo else value.replace(tzinfo=UTC)
    # The edges of the calendar cannot be moved to another zone; a time there means none, as the zero time does.
    return value.astimezone(UTC) if 1 < value.year < 9999 else None
