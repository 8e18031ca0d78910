"""What travels between the layers of the engine: frozen values, no behaviour worth naming."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

ENGINE_VERSION = "0.1.0"
CATALOG_VERSION = "2026.12"

# A hint is a root where nothing of its family says it better on its node, else a note.
Role = Literal["root", "consequence", "hint", "note"]
Confidence = Literal["high", "medium", "low"]
Status = Literal["clean", "findings", "could_not_check"]

# What reading a text of the right kind in the wrong shape raises; ElementTree's ParseError is a SyntaxError.
MISSHAPEN = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, SyntaxError)


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, less only at the end."""

    def readinto(self, space: memoryview, /) -> int:
        """Fills `space`, less of it only at the end; says how much."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of evidence: a name to show (never trusted, never opened) and its bytes.

    `first_line` is the number of its first line in the file that it was cut from. Where there is a `rest`, `data` is only the
    beginning, and the rest is read as it is judged: once, and before the next part is asked for.
    """

    name: str
    data: bytes
    first_line: int = 1
    rest: Readable | None = None


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A line as it was printed; `number` counts from 1, 0 if the evidence has no lines."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was printed. `at` is aware; `zoned` is False if the print had no zone and UTC was assumed.

    `has_year` is False for a syslog stamp without a year: then `at` is good for distances only and lies in the year 4.
    `uptime_s` is seconds since boot.
    """

    at: datetime | None = None
    zoned: bool = True
    has_year: bool = True
    uptime_s: float | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One sign of one fault, before signs are counted together and folded.

    `subject` is who was hit (a process), where that tells two events from one. `injected`: a test put it there.
    """

    fault: str
    line: EvidenceLine
    source_name: str
    role: Role = "root"
    component: str | None = None
    moment: Moment = Moment()
    node: str | None = None
    boot: str | None = None
    severity: str | None = None
    confidence: Confidence = "high"
    detail: str = ""
    action: str | None = None
    authorities: Mapping[str, str] = field(default_factory=dict)
    count: int = 1
    signature: str = ""
    order: int = 0
    subject: str = ""
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault with its proof. `root` is False for notes; what follows from a root lies in its `consequences`.

    `count` is how often it was seen (a burst is one finding); `first_at`, `last_at` are aware or None.
    `part` is what is known of the component: index, uuid, serial, slot, pci. `injected`: a test put the fault there, so it is a note.
    """

    fault: str
    root: bool
    severity: str
    component: str | None
    rank: int | None
    ranks: tuple[int, ...]
    node: str | None
    title: str
    line: str
    line_number: int
    evidence: tuple[EvidenceLine, ...]
    confidence: Confidence
    consequences: tuple["Finding", ...]
    action: str
    first_at: datetime | None
    last_at: datetime | None
    count: int
    source_name: str
    detail: str = ""
    authorities: Mapping[str, str] = field(default_factory=dict)
    part: Mapping[str, str] = field(default_factory=dict)
    boot: str | None = None
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, the fault families that it can speak for, and how it went.

    `is_sign`: the reason tells of a code that was seen and not understood, so that the evidence is not clean.
    """

    name: str
    families: tuple[str, ...]
    status: Status
    reason: str = ""
    is_sign: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer for one input: sick (with its worst root fault), clean, or could_not_check."""

    state: Literal["sick", "clean", "could_not_check"]
    fault: str | None = None
    component: str | None = None
    node: str | None = None
    severity: str | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found in one input. `checked` and `could_not_check` never overlap."""

    path: str
    kind: str
    findings: tuple[Finding, ...]
    checked: tuple[Check, ...]
    could_not_check: tuple[Check, ...]
    verdict: Verdict
