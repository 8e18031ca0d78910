"""What mlxlink says of a link and its module. The cause is the root; that the link is down follows from it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.engine.catalog import fabric
from diagnostics.engine.parsers import mlxlink
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.mlxlink import Report
from diagnostics.engine.types import Confidence, EvidenceLine, Observation, Role

_SPEEDS = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR")
_BER = ("Effective Physical BER", "Symbol BER")
_RANGED = {
    "Temperature [C]": "root", "Voltage [mV]": "root", "Rx Power Current [dBm]": "note", "Tx Power Current [dBm]": "note",
    "Bias Current [mA]": "note",
}  # fmt: skip
_LIMITS = re.compile(r"^(?P<now>[^\[]*)\[\s*(?P<low>-?[\d.]+)\s*\.\.\s*(?P<high>-?[\d.]+)\s*\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Sign:
    fault: str
    key: str
    role: Role = "root"
    confidence: Confidence = "high"
    detail: str = ""


def text(log: Log, *, source_name: str) -> list[Observation]:
    return _judge(mlxlink.of_text(log.text), source_name)


def document(value: JsonText, *, source_name: str) -> list[Observation]:
    return _judge(mlxlink.of_json(value), source_name)


def _judge(reports: Sequence[Report], source_name: str) -> list[Observation]:
    found = []
    for report in reports:
        for sign in (*_link(report), *_speed(report), *_bits(report), *_module(report)):
            line = report.lines.get(sign.key, EvidenceLine(0, sign.key))
            found.append(
                Observation(
                    sign.fault, line, source_name, role=sign.role, component=report.device or None,
                    confidence=sign.confidence, detail=sign.detail, order=line.number,
                )
            )  # fmt: skip
    return found


def _is_active(report: Report) -> bool:
    return report.get("State").lower() in ("active", "linkup", "up")


def _link(report: Report) -> Iterator[Sign]:
    words = report.get("Recommendation")
    why = fabric.reason(words) if words else None
    active = _is_active(report)
    if active:
        if why and why.active:
            yield Sign(why.active, "Recommendation", detail=words)
        return
    if not report.get("State") or report.get("State").upper() == "N/A":
        return
    unused = _is_closed(report, why)
    cause = why.fault if why and why.fault else ""
    if cause == "fabric.module_fault":
        yield Sign(cause, "Recommendation", detail=words)
        yield Sign("fabric.link_down", "State", role="consequence")
    elif unused:
        yield Sign("fabric.link_down", "State", role="note", detail=words)
    else:
        yield Sign("fabric.link_down", "State", detail=words)


def _is_closed(report: Report, why: fabric.Reason | None) -> bool:
    """Somebody closed the port, or it is an Ethernet port that may have no use."""
    return bool(why and why.role == "note")


def _speed(report: Report) -> Iterator[Sign]:
    if not _is_active(report) or not report.get("Speed").startswith("IB-"):
        return
    now = _rank(report.get("Speed").removeprefix("IB-"))
    reach = [_best(report.get(key)) for key in ("Enabled Link Speed", "Supported Cable Speed")]
    if now is not None and None not in reach and now < min(rank for rank in reach if rank is not None):
        yield Sign("fabric.rate_degraded", "Speed", confidence="medium", detail="adapter and cable can do more")
    if report.get("Width").lower() == "1x":
        yield Sign("fabric.rate_degraded", "Width", detail="one lane of four")


def _rank(speed: str) -> int | None:
    return _SPEEDS.index(speed) if speed in _SPEEDS else None


def _best(text: str) -> int | None:
    ranks = [rank for word in re.findall(r"[A-Z]DR(?:10)?", text) if (rank := _rank(word)) is not None]
    return max(ranks, default=None)


def _bits(report: Report) -> Iterator[Sign]:
    limits = fabric.table()["mlxlink"]
    minutes = _NUMBER.search(report.get("Time Since Last Clear [Min]"))
    if not _is_active(report) or (minutes and float(minutes.group()) < limits["settled_minutes"]):
        return
    for key in _BER:
        try:
            rate = float(report.get(key))
        except ValueError:
            continue
        if rate >= limits["effective_ber"]:
            yield Sign("fabric.symbol_errors", key, detail=f"{key} {rate:g}")
            return


def _module(report: Report) -> Iterator[Sign]:
    for key, role in _RANGED.items():
        match = _LIMITS.match(report.get(key))
        if not match:
            continue
        low, high = float(match["low"]), float(match["high"])
        values = [float(number) for number in _NUMBER.findall(match["now"])]
        bad = [value for value in values if value > high or (value < low and key != "Temperature [C]")]
        if low < high and bad and (_is_active(report) or role == "root"):
            yield Sign("fabric.module_fault", key, "root" if role == "root" else "note", detail=f"{bad[0]:g}")
