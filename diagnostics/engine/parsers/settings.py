"""Settings compared with how they should be, and the checks of a node, as preflight scripts and profile tools print them.

[FAIL] pcie-acs         ACS enabled on 4 of 16 downstream ports
cpu governor            performance | powersave     <-- differs
changed: [gn-1] => (drift: live net.core.rmem_max=212992 want=67108864)
{"host": "gn-1", "items": [{"key": "cpu.governor", "want": "performance", "have": "powersave"}]}
{"node": "gn-1", "checks": [{"name": "ssh_shell", "ok": false, "error": "..."}]}
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.engine.catalog import settings
from diagnostics.engine.parsers import log_line
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds
from diagnostics.engine.types import EvidenceLine

_MOST = 5000  # nodes of a document that are looked at
_FIRST = re.compile(
    r"[ \t]*\[? ?(?:FAIL(?:ED|URE)?|NOK|NOT OK|DRIFT|MISMATCH|DIFFERS?)\b ?\]?[: \t]+(?P<name>\S.{0,60})"
)
_LAST = re.compile(r"(?:<-+ ?(?:differs|drift|mismatch|wrong)|\b(?:FAIL(?:ED)?|NOK|DRIFT(?:ED)?|MISMATCH|DIFFERS))\W*$")
_COLUMN = re.compile(r"[ \t]{2,}|[ \t]*[|:=\t]")
_WANT = re.compile(
    r"(?i)\b(?:want(?:ed)?|expect(?:ed)?|desired|should be|required|profile)[ =:]+[\"'`]?(?P<value>[\w./-]+)"
)
_HAVE = re.compile(
    r"(?i)\b(?:have|has|live|actual|current(?:ly)?|found|got|is|running)[ =:]+(?:[\w./-]+ ?= ?)?[\"'`]?(?P<value>[\w./-]+)"
)
_MARK = re.compile(
    r"(?im)^.*(?:\b(?:FAIL|NOK|NOT OK|DRIFT|MISMATCH|DIFFERS)|<-+ ?wrong|\bwant|\bexpected|\bshould be).*$"
)
_HOST = re.compile(r"(?:changed|failed|ok): \[(?P<host>[^\]\s]+)\]")
_WANT_KEYS = (
    "want",
    "wanted",
    "expected",
    "expect",
    "desired",
    "should",
    "should_be",
    "required",
    "target",
    "baseline",
)
_HAVE_KEYS = ("have", "actual", "live", "current", "got", "found", "observed", "seen", "is")
_NAME_KEYS = ("key", "name", "setting", "param", "parameter", "check", "id", "item")
_HOST_KEYS = ("host", "node", "hostname", "nodename")
_OK_KEYS = ("ok", "pass", "passed", "success", "match", "accepted", "waived")


@dataclass(frozen=True, slots=True)
class Off:
    """A setting that is not as it should be, or a check that failed (`is_check`)."""

    name: str
    line: EvidenceLine
    detail: str = ""
    node: str | None = None
    is_check: bool = False
    key: str = ""


def off(text: str) -> Iterator[Off]:
    number, counted = 1, 0
    for match in _MARK.finditer(text):
        raw = match.group()[:500].rstrip()
        name = _name_of(raw)
        if name and settings.of_setting(name) and not log_line.parse(raw, number=1).prefixed:
            number += text.count("\n", counted, match.start())
            counted = match.start()
            host = _HOST.search(raw)
            yield Off(name, EvidenceLine(number, raw.strip()), node=host["host"] if host else None)


def _name_of(line: str) -> str:
    """The setting that the line says is wrong; a whole line, if it tells two values that differ."""
    if match := _FIRST.match(line):
        return _COLUMN.split(match["name"].strip())[0]
    if _LAST.search(line):
        first = _COLUMN.split(line.strip())[0]
        return first if settings.of_setting(first) else _setting_in(line)
    want, have = _WANT.search(line), _HAVE.search(line)
    if not want or not have or want["value"].lower() == have["value"].lower():
        return ""
    return _setting_in(line)


def _setting_in(line: str) -> str:
    return next((word.strip("'\"(),:") for word in re.split(r"[\s=]+", line) if settings.of_setting(word)), "")


def off_in(value: Any) -> Iterator[Off]:
    """Of a document."""
    nowhere = EvidenceLine(0, "")
    for name, row, node in _rows(value):
        want, have = _first(row, _WANT_KEYS), _first(row, _HAVE_KEYS)
        verdict = _first(row, _OK_KEYS)
        named = next((key for key in _NAME_KEYS if isinstance(row.get(key), str)), "")
        name = str(row[named]) if named else name
        if want is not None and have is not None:
            if verdict is not True and str(want).lower() != str(have).lower() and settings.of_setting(name):
                yield Off(name, nowhere, f"{have}, should be {want}", node, key=named)
        elif verdict is False and named and settings.of_check(name):
            detail = str(row.get("error") or row.get("message") or row.get("detail") or row.get("text") or "")
            yield Off(name, nowhere, detail, node, is_check=True, key=named)


def _rows(value: Any) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Every object of the document with the name that it stands under and the host that it is about."""
    stack: list[tuple[str, Any, str | None]] = [("", value, None)]
    for _ in range(_MOST):
        if not stack:
            return
        name, one, node = stack.pop()
        if isinstance(one, dict):
            own = _first(one, _HOST_KEYS)
            node = own if isinstance(own, str) else node
            yield name, one, node
            stack += [(str(key), child, node) for key, child in reversed(one.items()) if isinstance(child, dict | list)]
        elif isinstance(one, list):
            stack += [(name, child, node) for child in reversed(one) if isinstance(child, dict | list)]


def _first(row: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if key in row and not isinstance(row[key], dict | list)), None)


def _is_comparison(value: Any) -> bool:
    for name, row, _ in _rows(value):
        named = str(_first(row, _NAME_KEYS) or name)
        if _first(row, _WANT_KEYS) is not None and _first(row, _HAVE_KEYS) is not None:
            return settings.of_setting(named) is not None
        if isinstance(row.get("ok"), bool) and settings.of_check(named):
            return True
    return False


TEXT_KINDS: TextKinds = (("settings", lambda head: next(off(head), None) is not None),)
JSON_KINDS: JsonKinds = (("settings-json", _is_comparison),)
