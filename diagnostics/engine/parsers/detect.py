"""What kind of evidence is this? Decided by content, never by name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.parsers import ipmi, json_text, lspci, text
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log

HEAD = 256 * 1024  # characters that the texts are recognised by


@dataclass(frozen=True, slots=True)
class Detected:
    """`payload` is what the judges of that kind take: a JsonText, a Log, or None with the `reason` why there is nothing."""

    kind: str
    payload: JsonText | Log | None
    reason: str = ""


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
    head = content[:HEAD]
    kind = next((kind for kind, looks_like in _TEXTS if looks_like(head)), "")
    log = Log(content)
    if kind:
        return Detected(kind, log)
    return Detected("log" if _has_prefixes(log) else "text", log)


def _of_json(document: JsonText) -> Detected:
    value = document.value
    kind = next((kind for kind, looks_like in _JSONS if looks_like(value)), "")
    if kind == "log":
        return Detected("log", _log_of(value))
    if kind:
        return Detected(kind, document)
    return Detected("unknown", None, "format not recognised: JSON of an unknown kind")


def _log_of(value: Any) -> Log:
    """`dmesg --json` and journal entries in one document, as the lines that journalctl prints."""
    rows = value["dmesg"] if isinstance(value, dict) and "dmesg" in value else value
    rows = rows if isinstance(rows, list) else [rows]
    return Log("\n".join(json_text.json.dumps(row, ensure_ascii=False) for row in rows))


def _schema(name: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and value.get("schema") == name


def _is_log(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) and "MESSAGE" in row for row in value[:20])
    return isinstance(value, dict) and ("MESSAGE" in value or isinstance(value.get("dmesg"), list))


def _is_smart(value: Any) -> bool:
    return isinstance(value, dict) and (
        "smartctl" in value or "smart_status" in value or "ata_smart_attributes" in value
    )


def _is_redfish(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if any(key.startswith("@odata") for key in value):
        return True
    members = value.get("Members") or value.get("Events")
    return isinstance(members, list) and bool(members) and isinstance(members[0], dict)


_JSONS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("sickbay.nvml", _schema("sickbay.nvml/1")),
    ("sickbay.disk", _schema("sickbay.disk/1")),
    ("sickbay.memory", _schema("sickbay.memory/1")),
    ("log", _is_log),
    ("smart", _is_smart),
    ("redfish", _is_redfish),
)


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda head: compiled.search(head) is not None


def _any_of(*words: str) -> Callable[[str], bool]:
    return lambda head: any(word in head for word in words)


# Settings that only nvidia-smi -q prints, for what was cut out of it.
_SMI_KEYS = "Remapping Failure Occurred|HW Power Brake Slowdown|Pending Page Blacklist|SRAM Threshold Exceeded"

_TEXTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("nvidia-smi", _matches(r"<nvidia_smi_log|NVSMI LOG")),
    ("nvidia-smi", _matches(r"(?m:^GPU [0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$)")),
    ("nvidia-smi", _matches(rf"(?m:^\s*(?:{_SMI_KEYS}) +: )")),
    ("nvidia-smi-table", _matches(r"(?m:^\| NVIDIA-SMI \d)")),
    ("nvlink", _matches(r"(?m:^GPU \d+: .*\(UUID: )[\s\S]*(?:\n\s+Link \d+: |all links are inActive)")),
    ("dcgm-diag", _matches(r"(?m:^\| Diagnostic +\||^\|-+  \w+  -+\+-|^\| [A-Z][\w ]+ \| (?:Pass|Fail|Skip)\b)")),
    ("ipmi-sel", ipmi.looks_like_sel),
    ("ipmi-sensors", ipmi.looks_like_sensors),
    ("ipmi-sel-info", _matches(r"(?m:^SEL Information|^Percent Used +: \d+%)")),
    ("ibstat", _matches(r"(?m:^CA '\w+')")),
    ("ibqueryerrors", _matches(r"(?m:^\s*GUID 0x[0-9a-f]+ port \w+: \[)")),
    ("lspci", lspci.looks_like),
    (
        "job-log",
        _any_of(
            "NCCL WARN",
            "NCCL INFO",
            "ProcessGroupNCCL",
            "Traceback (most recent call last)",
            "torch.distributed",
            "[rank0]:",
        ),
    ),
)


def _has_prefixes(log: Log) -> bool:
    lines = log.sample()
    return sum(line.prefixed for line in lines) * 3 >= len(lines)
