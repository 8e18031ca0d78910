"""Redfish documents: states of parts, entries of logs, accounts; and what the service did not let us see."""

import re
from typing import Any

from diagnostics.engine.judges import redfish_access, redfish_log, redfish_metrics, redfish_states
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.redfish import documents, text_of
from diagnostics.engine.types import Check, Observation

_FAMILIES = ("host.cooling", "host.power", "host.board")
_REFUSED = (
    "NoValidSession", "ResourceAtUriUnauthorized", "AuthenticationFailed", "PasswordChangeRequired", "AccessDenied", "Unauthorized",
    "InvalidAuthenticationToken", "LoginFailed", "UnauthorizedLoginAttempt", "InvalidLoginAttempt",
)  # fmt: skip
_WRONG_CREDENTIALS = re.compile(
    r"(?i)credentials? (?:are|is|were) (?:invalid|incorrect|wrong)|invalid (?:login )?credentials"
)
_BUSY = ("SessionLimitExceeded", "CreateLimitReachedForResource")


def judge(payload: JsonText | Log, *, source_name: str) -> list[Observation]:
    found = documents(payload)
    sick = [one for document in found for one in redfish_states.judge(document, source_name=source_name)]
    seen = redfish_states.keep_parts(sick)
    seen += redfish_log.judge(found, source_name=source_name)
    for document in found:
        seen += redfish_access.judge(document, source_name=source_name)
        seen += redfish_metrics.judge(document, source_name=source_name)
        seen += _refusals(document, source_name)
    return seen


def _error(document: JsonText) -> list[str]:
    """The MessageIds (or the code) of a response that is an error."""
    error = document.value.get("error") if isinstance(document.value, dict) else None
    if not isinstance(error, dict):
        return []
    rows = error.get("@Message.ExtendedInfo")
    rows = rows if isinstance(rows, list) else [rows]
    ids = [text_of(row.get("MessageId")) for row in rows if isinstance(row, dict)]
    return [one for one in ids if one] or [text_of(error.get("code"))]


def _refusals(document: JsonText, source_name: str) -> list[Observation]:
    for message_id in _error(document):
        word = message_id.rsplit(".", 1)[-1]
        fault = "bmc.auth_failed" if word in _REFUSED else "bmc.unreachable" if word in _BUSY else ""
        if fault:
            line = document.locate("MessageId", value=f'"{message_id}"')
            return [Observation(fault, line, source_name, order=line.number)]
    return _refused_by_words(document, source_name)


def _refused_by_words(document: JsonText, source_name: str) -> list[Observation]:
    """A vendor's own MessageId, whose sentence says that the credentials were wrong."""
    error = document.value.get("error") if isinstance(document.value, dict) else None
    rows = error.get("@Message.ExtendedInfo") if isinstance(error, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and _WRONG_CREDENTIALS.search(text_of(row.get("Message"))):
            line = document.locate("Message", value=f'"{text_of(row.get("Message"))[:30]}')
            return [Observation("bmc.auth_failed", line, source_name, order=line.number)]
    return []


def _gaps(payload: JsonText | Log) -> list[Check]:
    found = documents(payload)
    errors = [message_id for document in found for message_id in _error(document)]
    if errors:
        return [Check("Redfish", _FAMILIES, "could_not_check", f"the service answered with an error: {errors[0]}")]
    if found and all(_is_list_of_links(document.value) for document in found):
        return [Check("Redfish", _FAMILIES, "could_not_check", "a list of links only; fetch what they point to")]
    return []


def _is_list_of_links(value: Any) -> bool:
    members = value.get("Members") if isinstance(value, dict) else None
    return isinstance(members, list) and all(isinstance(one, dict) and set(one) <= {"@odata.id"} for one in members)


FORMATS = {
    "redfish": Format("Redfish", (judge,), of(*_FAMILIES), gaps=_gaps),
    "redfish-responses": Format("Redfish", (judge,), of(*_FAMILIES), gaps=_gaps, has_log=True),
}
