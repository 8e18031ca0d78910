"""Xids by number only, as agents name them in conditions and events of nodes and in the results of checks.

AcceleratedHardwareReady  False  ...  NvidiaXID79Error  GPU has fallen off the bus
Warning  NvidiaXid48  node/gpu-7  ...
GPUXIDError  True  ...  XID error-codes found: 48, 95. FaultCode: NHC2001
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from diagnostics.engine.judges.signatures import observe
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from incidents.domain import faults

LITERALS = ("NvidiaXID", "NvidiaXid", "XID error-codes found: ")

_REASON = re.compile(r"\bNvidiaX(?:ID|id)(?P<xid>\d{1,3})(?:Error)?\b")
_LIST = re.compile(r"XID error-codes found: (?P<xids>\d{1,3}(?:, \d{1,3}){0,20})")
_NODE = re.compile(r"\bnode/(?P<node>[\w.-]+)")
_FOLLOWERS = (43, 45)


class XidReasons:
    """The judge of these words; a warning ("NvidiaXID13Warning") says that the agent itself does not mind."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name

    def see(self, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if not any(literal in found for literal in LITERALS):
            return
        node = _NODE.search(line.raw)  # kubectl puts the reason and the node before what counts as the message
        told = replace(line, host=node["node"]) if node else line
        for number in dict.fromkeys(_numbers(line.raw)):
            known = faults.xid(number)
            yield Hit(
                observe(
                    told, fault=known.fault, source_name=self._source_name, role="note" if number in _FOLLOWERS else "root",
                    confidence="medium", signature=f"xid-{number}",
                    detail=f"Xid {number}: {known.meaning}",
                )
            )  # fmt: skip


def _numbers(text: str) -> Iterator[int]:
    for match in _REASON.finditer(text):
        yield int(match["xid"])
    for match in _LIST.finditer(text):
        yield from (int(one) for one in match["xids"].split(", "))
