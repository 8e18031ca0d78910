"""Who acts when no person does."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Machine:
    """Sickbay itself, or a source that speaks to it. A machine passes the permission matrix: it does only what we wrote."""

    name: str
    kind: Literal["sickbay", "source"] = "sickbay"


SICKBAY = Machine("Sickbay")
