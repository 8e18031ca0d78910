"""journalctl -o export and -o verbose: an entry is a block of FIELD=value lines, of which the message is one.

__REALTIME_TIMESTAMP=1733024280123456          Sun 2024-12-01 03:38:00.123456 UTC [s=...;i=...;b=...]
_BOOT_ID=6f1b...                                   _BOOT_ID=6f1b...
_TRANSPORT=kernel                                  _TRANSPORT=kernel
MESSAGE=NVRM: Xid (PCI:0000:3b:00): 79, ...        MESSAGE=NVRM: Xid (PCI:0000:3b:00): 79, ...
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Moment

_FIELD = re.compile(r"\s*(?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>.*)")
_MOST_FIELDS = 40  # of one entry, on either side of its message


def enriched(line: LogLine, log: Log) -> LogLine:
    """The line itself, or what its entry says if it is the message of one."""
    if not line.message.startswith("MESSAGE="):
        return line
    fields: dict[str, str] = {}
    header = _gather(log.before(line, count=_MOST_FIELDS), fields)
    _gather(log.after(line, count=_MOST_FIELDS), fields)
    tag = fields.get("SYSLOG_IDENTIFIER") or fields.get("_COMM")
    return replace(
        line, message=line.message.removeprefix("MESSAGE="), moment=_moment(fields, header), host=fields.get("_HOSTNAME"),
        tag=tag, kernel=fields.get("_TRANSPORT", tag) == "kernel", boot=fields.get("_BOOT_ID"), prefixed=True,
    )  # fmt: skip


def _gather(lines: Iterable[LogLine], fields: dict[str, str]) -> LogLine | None:
    """The fields up to the border of the entry; the line of the border."""
    for line in lines:
        match = _FIELD.match(line.raw)
        if not match:
            return line
        fields.setdefault(match["name"], match["value"])
    return None


def _moment(fields: dict[str, str], header: LogLine | None) -> Moment:
    micros = fields.get("__REALTIME_TIMESTAMP") or fields.get("_SOURCE_REALTIME_TIMESTAMP") or ""
    if micros.isascii() and micros.isdigit() and len(micros) < 17:
        return Moment(at=datetime.fromtimestamp(int(micros) / 1e6, tz=UTC))
    return header.moment if header else Moment()
