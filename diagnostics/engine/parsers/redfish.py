"""Redfish documents: a resource, a collection with Members, an event with Events, an error; several in an array or one after another.

{"@odata.type": "#Thermal.v1_6_0.Thermal", "Fans": [{"Name": "Fan 1", "Status": {"State": "Enabled", "Health": "OK"}}]}
{"error": {"code": "Base.1.8.GeneralError", "@Message.ExtendedInfo": [{"MessageId": "Base.1.8.NoValidSession"}]}}
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from diagnostics.engine.parsers import json_fragment
from diagnostics.engine.parsers.json_text import DEEPEST, JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.recognise import JsonKinds, TextKinds

_BEGIN = re.compile(r"^[{\[]", re.MULTILINE)
_FRAGMENT = re.compile(
    r'(?m:^[ \t]*"(?:MessageId|OemRecordFormat|MessageSeverity|HealthRollup|@odata\.(?:id|type)|Health)"\s*: ?")'
)  # a line of a document that was cut
_MOST_BROKEN = 20  # beginnings that are no document after all
_OPENBMC = "/xyz/openbmc_project/"  # the paths of OpenBMC's older REST interface
_WRAPPED = ("body", "data", "dict", "response", "redfish", "json")


def looks_like(value: Any) -> bool:
    if isinstance(value, list):
        return any(looks_like(one) for one in value[:20] if isinstance(one, dict))
    if not isinstance(value, dict):
        return False
    if any(key.startswith(("@odata", _OPENBMC)) for key in value) or _is_error(value):
        return True
    if any(isinstance(one, dict) and _has_mark(one) for one in list(value.values())[:50]):
        return True
    members = value.get("Members") or value.get("Events")
    return isinstance(members, list) and bool(members) and isinstance(members[0], dict)


def _has_mark(value: dict[str, Any]) -> bool:
    return any(key.startswith(("@odata", _OPENBMC)) for key in value)


def _is_error(value: dict[str, Any]) -> bool:
    error = value.get("error")
    return isinstance(error, dict) and ("@Message.ExtendedInfo" in error or "Base." in str(error.get("code")))


def documents(payload: JsonText | Log) -> list[JsonText]:
    """The responses, each with the whole text, so that lines keep their numbers."""
    if isinstance(payload, JsonText):
        values = payload.value if isinstance(payload.value, list) else [payload.value]
        return [JsonText(payload.text, value) for value in values]
    text = payload.text
    values = list(_in_a_row(text)) or [json_fragment.parse(text)]
    return [JsonText(text, value) for value in values if value is not None]


def _in_a_row(text: str) -> Iterator[Any]:
    decoder, at, broken = json.JSONDecoder(), 0, 0
    while broken < _MOST_BROKEN and (match := _BEGIN.search(text, at)):
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            broken += 1
            at = match.end()
            continue
        yield from value if isinstance(value, list) else [value]


def resources(value: Any, *, kind: str = "", depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object with its type: that of @odata.type, else the property that it lies in."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from resources(one, kind=kind, depth=depth + 1)
    elif isinstance(value, dict):
        own = type_of(value) or kind
        yield own, value
        for key, inner in value.items():
            if (
                isinstance(inner, dict | list)
                and not key.startswith("@")
                and key not in ("Links", "RelatedItem", "Actions")
            ):
                # the members of a collection are what it is called after
                name = own.removesuffix("Collection") if key in ("Members", *_WRAPPED) else key
                yield from resources(inner, kind=name, depth=depth + 1)


def type_of(value: dict[str, Any]) -> str:
    kind = value.get("@odata.type")
    return kind.rsplit(".", 1)[-1].lstrip("#") if isinstance(kind, str) else ""


def text_of(value: Any) -> str:
    """A string where the schema wants one; old controllers send a list of them."""
    if isinstance(value, list):
        return " ".join(text_of(one) for one in value[:10])
    return "" if value is None or isinstance(value, dict) else str(value)


def _looks_like_rows(head: str) -> bool:
    if ("@odata.id" in head or "@Message.ExtendedInfo" in head) and _BEGIN.search(head):
        return True
    return _FRAGMENT.search(head) is not None


JSON_KINDS: JsonKinds = (("redfish", looks_like),)
TEXT_KINDS: TextKinds = (("redfish-responses", _looks_like_rows),)
