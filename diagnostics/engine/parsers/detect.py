"""What kind of evidence is this? Decided by content, never by name."""

import re
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers import (
    alerts,
    bonding,
    check_table,
    container_cpu,
    container_tables,
    dcgm,
    ethtool,
    fabric_reports,
    gids,
    gpu_columns,
    gpu_reports,
    health_states,
    host_text,
    imex,
    infiniband,
    inventory_diff,
    ipmi,
    job_text,
    json_text,
    kubernetes,
    log_json,
    lspci,
    metrics,
    mlxlink,
    nvidia_smi,
    pci_sysfs,
    port_counters,
    probe_documents,
    redfish,
    settings,
    smart,
    smi_csv,
    smi_links,
    smi_lists,
    smi_table,
    systemd,
    text,
)
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.recognise import JsonKinds, LooksLikeJson, LooksLikeText, TextKinds

HEAD = 256 * 1024  # characters that the texts are recognised by


_LONG_LINE = re.compile(
    r"([^\n]{2048})[^\n]+"
)  # its beginning tells what it is, and recognisers need not be fast on more


@dataclass(frozen=True, slots=True)
class Detected:
    """`payload` is what the judges of that kind take: a JsonText, a Log, or None with the `reason` why there is nothing.

    `also`: further kinds that the text holds, as where two outputs were pasted one after the other.
    """

    kind: str
    payload: JsonText | Log | None
    reason: str = ""
    also: tuple[str, ...] = ()


ARCHIVE = "format not recognised: a packed file; unpack it and give the log itself, or name it to python -m diagnostics.engine"


def detect(data: bytes) -> Detected:
    if not data.strip():
        return Detected("empty", None, "the input is empty")
    if text.is_binary(data):
        return Detected(
            "unknown", None, ARCHIVE if data.startswith(text.PACKED) else "format not recognised: this is not text"
        )
    content = text.decode(data)
    document = json_text.parse(content)
    if document is not None:
        return _of_json(document)
    head = _LONG_LINE.sub(r"\1", content[:HEAD])
    kinds = tuple(dict.fromkeys(kind for kind, looks_like in _TEXT_KINDS if _fits(looks_like, head)))
    log = Log.of(content)
    if kinds:
        return Detected(kinds[0], log, also=kinds[1:])
    return Detected("log" if _has_prefixes(log) else "text", log)


def _of_json(document: JsonText) -> Detected:
    value = document.value
    kind = next((kind for kind, looks_like in _JSON_KINDS if _fits(looks_like, value)), "")
    if kind == "log":
        return Detected("log", _log_of(value))
    if kind:
        return Detected(kind, document)
    if _is_entries(value):
        return Detected("log", _log_of(value))
    return Detected("unknown", None, "format not recognised: JSON of an unknown kind")


def _is_entries(value: Any) -> bool:
    """Lines of a structured logger or a collector: one, or a list; or the hits of a search for them."""
    rows = value if isinstance(value, list) else [value]
    return len(rows) > 0 and all(
        isinstance(row, dict) and log_json.entry(json_text.json.dumps(row)) is not None for row in rows[:20]
    )


def _fits(looks_like: LooksLikeText | LooksLikeJson, value: Any) -> bool:
    """What has another shape than the recogniser thought of is not of its kind."""
    try:
        return looks_like(value)
    except (TypeError, AttributeError, KeyError, IndexError, ValueError):
        return False


def _log_of(value: Any) -> Log:
    """`dmesg --json` and journal entries in one document, as the lines that journalctl prints."""
    rows = value["dmesg"] if isinstance(value, dict) and "dmesg" in value else value
    rows = rows if isinstance(rows, list) else [rows]
    return Log.of("\n".join(json_text.json.dumps(row, ensure_ascii=False) for row in rows))


def _is_log(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) and "MESSAGE" in row for row in value[:20])
    return isinstance(value, dict) and ("MESSAGE" in value or isinstance(value.get("dmesg"), list))


# The first kind that fits wins: what prints the narrower form stands before what prints the wider one.
_JSON_KINDS: JsonKinds = (
    *probe_documents.JSON_KINDS,
    *dcgm.JSON_KINDS,
    *imex.JSON_KINDS,
    ("log", _is_log),
    *smart.JSON_KINDS,
    *systemd.JSON_KINDS,
    *metrics.JSON_KINDS,
    *alerts.JSON_KINDS,
    *redfish.JSON_KINDS,
    *mlxlink.JSON_KINDS,
    *kubernetes.JSON_KINDS,
    *fabric_reports.JSON_KINDS,
    *infiniband.JSON_KINDS,
    *ethtool.JSON_KINDS,
    *gpu_reports.JSON_KINDS,
    *settings.JSON_KINDS,
    *health_states.JSON_KINDS,
)

_TEXT_KINDS: TextKinds = (
    *metrics.TEXT_KINDS,
    *nvidia_smi.TEXT_KINDS,
    *smi_table.TEXT_KINDS,
    *smi_links.TEXT_KINDS,
    *smi_lists.TEXT_KINDS,
    *check_table.TEXT_KINDS,
    *smi_csv.TEXT_KINDS,
    *gpu_columns.TEXT_KINDS,
    *imex.TEXT_KINDS,
    *dcgm.TEXT_KINDS,
    *redfish.TEXT_KINDS,
    *ipmi.TEXT_KINDS,
    *infiniband.TEXT_KINDS,
    *mlxlink.TEXT_KINDS,
    *fabric_reports.TEXT_KINDS,
    *gids.TEXT_KINDS,
    *inventory_diff.TEXT_KINDS,
    *port_counters.TEXT_KINDS,
    *ethtool.TEXT_KINDS,
    *bonding.TEXT_KINDS,
    *container_tables.TEXT_KINDS,
    *container_cpu.TEXT_KINDS,
    *pci_sysfs.TEXT_KINDS,
    *lspci.TEXT_KINDS,
    *host_text.TEXT_KINDS,
    *job_text.TEXT_KINDS,
)


def _has_prefixes(log: Log) -> bool:
    lines = log.sample()
    return sum(line.prefixed for line in lines) * 3 >= len(lines)
