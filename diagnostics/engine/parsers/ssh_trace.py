"""ssh -v: how far a login came before somebody gave up.

debug1: Entering interactive session.
debug1: Sending environment.
real	1m30.004s                                      time, or Terminated by timeout
"""

import re
from dataclasses import dataclass

from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_CONNECTING = re.compile(r"debug1: Connecting to (?P<host>\S+)")
_ENTERED = re.compile(r"debug1: Entering interactive session")
_ENDED = re.compile(
    r"debug1: (?:Exit status|client_input_channel_req: .*exit-s|channel \d+: free)|^Transferred: |Last login|^Connection to \S+ closed"
)
_REAL = re.compile(r"^real\s+(?:(?P<minutes>\d+)m)?(?P<seconds>[\d.,]+)s?")
_GIVEN_UP = re.compile(
    r"^(?:Terminated|Killed by signal \d+|Timeout, server \S+ not responding|exit(?: code| status)?[ =:]*124)\b"
)


@dataclass(frozen=True, slots=True)
class Waited:
    """A login that was let in and got nothing: the last line of the session, and how long somebody waited (0: until killed)."""

    host: str | None
    line: EvidenceLine
    seconds: float


def waited(text: str) -> Waited | None:
    host, last, entered = None, None, False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw[:500].strip()
        if match := _CONNECTING.search(line):
            host, entered, last = match["host"], False, None
        elif _ENDED.search(line):
            entered = False
        elif _ENTERED.search(line):
            entered, last = True, EvidenceLine(number, line)
        elif entered and last and (match := _REAL.match(line)):
            return Waited(host, last, int(match["minutes"] or 0) * 60 + float(match["seconds"].replace(",", ".")))
        elif entered and last and _GIVEN_UP.match(line):
            return Waited(host, last, 0)
    return None


TEXT_KINDS: TextKinds = (
    ("ssh-trace", matches(r"(?m:^[ \t]*debug1: (?:Connecting to |Authentication succeeded|Entering interactive))")),
)
