"""Xids and SXids as other programs than the driver tell of them: agents, device plug-ins, DCGM, conditions and events of nodes.

AcceleratedHardwareReady  False  ...  NvidiaXID79Error  GPU has fallen off the bus
Warning  NvidiaXid48  node/gpu-7  ...
GPUXIDError  True  ...  XID error-codes found: 48, 95. FaultCode: NHC2001
XidCriticalError: Xid=48 on Device=GPU-7540a9b3-..., the device will go unhealthy.
XID 79(GPU has fallen off the bus) detected on PCI:0000:ae:00
SysLogsXIDError  True  ...  ErrorCode:119 PCI:0002:00:00 GPU_UUID:GPU-... Recommended Action=COMPONENT_RESET;
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from diagnostics.engine.judges import gpu_mentions, gpu_xid_meaning
from diagnostics.engine.judges.gpu_xid_meaning import Meaning
from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine

LITERALS = (
    "NvidiaXID", "NvidiaXid", "XID error-codes found: ", "XidCriticalError: Xid=", "ErrorCode:",
    " detected by dmesg", " detected on GPU", " detected on PCI",
)  # fmt: skip

_NUMBER = r"(?P<number>\d{1,5})(?:\.\d{1,3})?\b"
# In any line of a log: forms that no prose has.
_TOLD = re.compile(
    r"\bNvidiaX(?:ID|id)(?P<reason>\d{1,3})(?:Error)?\b"
    r"|XidCriticalError: Xid=(?P<plugin>\d{1,3})(?= on Device=)"
    rf"|\b(?P<switch>[Ss])?(?:XID|[Xx]id) {_NUMBER}(?=.{{0,160}}? detected (?:by dmesg\b|on (?:GPU )?PCI:[0-9a-fA-F]{{4}}))"
)
# The message of a condition or an event; in a dated line a program tells of one that it once saw.
_CONDITION = re.compile(r"\bErrorCode:(?P<code>\d{1,5})(?= PCI:[0-9a-fA-F]{4}| GPU| NVSWITCH)")
_LIST = re.compile(r"XID error-codes found: (?P<list>\d{1,3}(?:, \d{1,3}){0,20})")
# In a reason or a report that is known to speak of a GPU's trouble; the kernel's own form too.
_NAMED = re.compile(
    rf"\b(?P<switch>S)?Xid(?: \([^)]{{4,40}}\))?(?:[ _-]?(?:error-codes?|errors?|codes?))?[ :=#(\"'_]{{0,3}}{_NUMBER}",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\bS?Xid \([^)]{4,40}\): \d{1,5}\b")  # the driver's own words begin behind it
_NODE = re.compile(r"\bnode/(?P<node>[\w.-]+)")
_LONGEST = 600  # characters that belong to one number
_LOOKED_AT = 8192  # characters of a text


class Told(NamedTuple):
    """`component` is the board that is named beside the number."""

    means: Meaning
    component: str | None


def told(text: str, *, is_dated: bool = False) -> list[Told]:
    """What a line of any program tells in a form that is a report and no prose."""
    text = text[:_LOOKED_AT]
    conditions = [] if is_dated else _of(_CONDITION, text)
    lists = [
        Told(gpu_xid_meaning.of_xid(int(one)), None)
        for match in _LIST.finditer(text)
        for one in match["list"].split(", ")
    ]
    return _once([*_of(_TOLD, text), *conditions, *lists], text)


def named(text: str) -> list[Told]:
    """What the words of a reason or a report name."""
    text = text[:_LOOKED_AT]
    return _once([*_of(_TOLD, text), *_of(_CONDITION, text), *_of(_NAMED, text)], text)


def _of(form: re.Pattern[str], text: str) -> Iterator[Told]:
    """What stands between one number and the next belongs to the first."""
    matches = list(form.finditer(text))
    for match, later in zip(matches, [*matches[1:], None], strict=False):
        end = later.start() if later else len(text)
        groups = match.groupdict()
        number = next(int(groups[name]) for name in ("reason", "plugin", "code", "number") if groups.get(name))
        if not number or gpu_mentions.is_denied(text, match.start()):
            continue
        rest = text[match.end() : min(end, match.end() + _LONGEST)]
        read = gpu_xid_meaning.of_sxid if groups.get("switch") else gpu_xid_meaning.of_number
        quoted = _QUOTED.search(rest)
        printed = rest[quoted.end() :] if quoted else rest
        yield Told(read(number, printed.lstrip(" ,:()")), gpu_mentions.component_of(match.group() + rest))


def _once(found: list[Told], text: str) -> list[Told]:
    """Each number at each board; who names no board beside it may have done so before."""
    whole = gpu_mentions.component_of(text)
    placed = [one if one.component else one._replace(component=whole) for one in found]
    return list({(one.means.signature, one.component): one for one in reversed(placed)}.values())[::-1]


class XidReasons:
    """The judge of such lines; a warning ("NvidiaXID13Warning") says that the agent itself does not mind."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not any(literal in found for literal in LITERALS):
            return
        seen = told(line.raw, is_dated=line.moment.at is not None)
        if not seen:
            return
        node = _NODE.search(line.raw)  # kubectl puts the reason and the node before what counts as the message
        speaker = replace(line, host=node["node"]) if node else line
        over = gpu_mentions.is_over(line.raw)
        for means, component in seen:
            fields = means.fields() | ({"role": "note"} if over else {})
            yield Hit(
                observe(
                    speaker, fault=means.fault, source_name=self._source_name, component=component, confidence="medium", **fields
                )
            )  # fmt: skip
