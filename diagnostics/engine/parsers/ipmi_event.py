"""One event of a BMC's log, whatever tool printed it."""

from typing import NamedTuple

from diagnostics.engine.types import Moment

NO_MOMENT = Moment()


class Event(NamedTuple):
    """`kind` is the sensor's type ("Power Supply"), `name` what is left of its text ("PS1 Status", "#0x41"); a sentence has neither.

    `reading` is what stands behind the event: the measured value, or the part that is meant. `severity` is the tool's own word for it;
    `times` is how often it says that it happened.
    """

    kind: str
    name: str
    event: str
    is_asserted: bool
    reading: str
    number: int
    raw: str
    record: int = -1
    moment: Moment = NO_MOMENT
    severity: str = ""
    times: int = 1
