"""A log line that is a JSON object: journalctl -o json, dmesg --json, container run times, collectors, structured loggers."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from diagnostics.engine.parsers import log_time
from diagnostics.engine.types import Moment


class Entry(NamedTuple):
    """`kernel` None: the entry does not tell who spoke, so the prefix of the message has to."""

    message: str
    moment: Moment
    host: str | None = None
    tag: str | None = None
    kernel: bool | None = None
    boot: str | None = None


_MESSAGES = ("message", "log", "msg", "textPayload", "line", "short_message", "Body")
_HOSTS = (
    "_HOSTNAME",
    "hostname",
    "host",
    "nodename",
    "node",
    "node_name",
    "HOSTNAME",
    "kubernetes_host",
    "instance_name",
)
_TAGS = (
    "SYSLOG_IDENTIFIER",
    "_COMM",
    "syslog_identifier",
    "programname",
    "appname",
    "app_name",
    "ident",
    "logger",
    "process",
)
_DETAILS = ("target", "error", "err")
_TIMES = ("@timestamp", "timestamp", "time", "ts", "datetime", "TimeStamp", "time_local")


def entry(raw: str) -> Entry | None:
    """None if this is no JSON object with a message."""
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    if "MESSAGE" in fields or {"msg", "pri"} <= fields.keys():
        return _from_journal(fields)
    return _from_collector(fields)


def _from_journal(fields: dict[str, Any]) -> Entry:
    message = fields.get("MESSAGE", fields.get("msg"))
    if isinstance(message, list):  # journalctl gives bytes that are not plain text as a list of numbers
        message = bytes(b for b in message if isinstance(b, int) and 0 <= b < 256).decode("utf-8", "replace")
    tag = _text(fields, "SYSLOG_IDENTIFIER", "_COMM")
    kernel = fields.get("_TRANSPORT") == "kernel" or "msg" in fields or (tag == "kernel" and "_TRANSPORT" not in fields)
    moment = Moment()
    if isinstance(fields.get("time"), (int, float)):
        moment = Moment(uptime_s=float(fields["time"]))
    micros = str(fields.get("__REALTIME_TIMESTAMP", ""))
    if micros.isascii() and micros.isdigit() and len(micros) < 17:
        moment = Moment(at=datetime.fromtimestamp(int(micros) / 1e6, tz=UTC))
    return Entry(str(message or ""), moment, _text(fields, "_HOSTNAME"), tag, kernel, _text(fields, "_BOOT_ID"))


def _from_collector(fields: dict[str, Any]) -> Entry | None:
    for inner in ("_source", "jsonPayload", "attributes", "resource"):  # Elasticsearch, cloud logging, OpenTelemetry
        if isinstance(fields.get(inner), dict):
            fields = {**fields[inner], **{key: value for key, value in fields.items() if not isinstance(value, dict)}}
    if "MESSAGE" in fields:
        return _from_journal(fields)
    message = _text(fields, *_MESSAGES)
    if message is None:
        return None
    process = fields.get("process")
    tag = _text(process, "name") if isinstance(process, dict) else _text(fields, *_TAGS)
    if not tag and "caller" in fields:
        tag = _text(fields, "caller")
    if str(fields.get("facility", "")).lower() in ("kern", "kernel") or fields.get("transport") == "kernel":
        tag = "kernel"
    # A structured logger (level and message) is a program; a collector's envelope holds a line as it was.
    program = "level" in fields or "severity" in fields or "lvl" in fields
    kernel = True if tag == "kernel" else False if tag or program else None
    if program:
        message = " ".join((message, *_details(fields)))
    return Entry(message, _moment(fields), _host(fields), tag, kernel, _text(fields, "boot_id"))


def _details(fields: dict[str, Any]) -> list[str]:
    """What a structured logger tells beside the message: whom it asked and what went wrong."""
    return [f'{name}="{fields[name]}"' for name in _DETAILS if isinstance(fields.get(name), str) and fields[name]]


def _moment(fields: dict[str, Any]) -> Moment:
    for name in _TIMES:
        value = fields.get(name)
        if isinstance(value, str):
            return log_time.from_text(value)
        if isinstance(value, int | float) and 1e9 < value < 1e19:
            seconds = float(value)
            while seconds > 1e11:  # milli-, micro- or nanoseconds
                seconds /= 1e3
            return Moment(at=datetime.fromtimestamp(seconds, tz=UTC))
    return Moment()


def _host(fields: dict[str, Any]) -> str | None:
    host = fields.get("host")
    if isinstance(host, dict):
        return _text(host, "name", "hostname")
    kubernetes = fields.get("kubernetes")
    if isinstance(kubernetes, dict) and (name := _text(kubernetes, "host", "node_name")):
        return name
    return _text(fields, *_HOSTS)


def _text(fields: dict[str, Any], *names: str) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str) and fields[name]), None)
