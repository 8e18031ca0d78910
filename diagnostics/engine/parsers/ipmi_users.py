"""Who may log in to a BMC.

ID  Name             Callin  Link Auth  IPMI Msg   Channel Priv Limit         ipmitool user list
2   ADMIN            true    false      true       ADMINISTRATOR
User ID              : 1                                                      ipmitool channel getaccess
Section User1                                                                 FreeIPMI ipmi-config --checkout
0    N/A     none            none            none                             ipmitool channel getciphers
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from diagnostics.engine.parsers import ipmi_fields
from diagnostics.engine.parsers.recognise import TextKinds, matches
from diagnostics.engine.types import EvidenceLine

_ROW = re.compile(
    r"\s*(?P<id>\d{1,2})[ \t,]+(?P<rest>.*?)(?P<flags>(?:\b(?:true|false)\b[ \t,]+){2,4})(?P<limit>[A-Z][A-Za-z ()x0-9]*)\s*$"
)
_CIPHER = re.compile(r"\s*0\s+N/A\s+none\s+none\s+none\s*$")
_SETTING = re.compile(r"\s*(?P<comment>## )?(?P<key>[A-Z][A-Za-z0-9_]{2,60})[ \t]+(?P<value>\S.*)$")
_NO_NAME = ("", "null", "(empty user)", "<null>", "anonymous")
_NO_ACCESS = ("no access", "no_access", "unknown", "none")
_UNNAMED = "?"  # a record that tells no name is that of a session, not of an account
_YES = ("enabled", "true", "yes", "")


@dataclass(frozen=True, slots=True)
class User:
    """An account. `limit` is its privilege in capitals; what is not told counts as enabled."""

    number: str
    name: str
    limit: str
    line: EvidenceLine
    messaging: str = ""
    enabled: str = ""
    link: str = "false"

    @property
    def is_anonymous(self) -> bool:
        return self.name.strip().lower() in _NO_NAME

    @property
    def can_log_in(self) -> bool:
        closed = any(self.limit.lower().startswith(word) for word in _NO_ACCESS)
        return bool(self.limit) and not closed and self.messaging.lower() in _YES and self.enabled.lower() in _YES


def users(text: str) -> list[User]:
    return [*_listed(text), *_access_records(text), *_configured(text)]


def _listed(text: str) -> Iterator[User]:
    if "true" not in text and "false" not in text:
        return
    for number, raw in enumerate(text.splitlines(), 1):
        if match := _ROW.match(raw):
            flags = re.findall(r"true|false", match["flags"])
            line = EvidenceLine(number, raw.strip())
            yield User(match["id"], match["rest"].strip(" \t,"), match["limit"].strip(), line, flags[-1], "", flags[-2])


def _access_records(text: str) -> Iterator[User]:
    user: User | None = None
    for field in ipmi_fields.fields(text) if "User ID" in text else ():
        if field.key == "user id":
            if user and user.name != _UNNAMED:
                yield user
            user = User(field.value, _UNNAMED, "", field.line, link="")
        elif user and field.key in _RECORD:
            told: dict[str, Any] = {_RECORD[field.key]: field.value}
            user = replace(user, **told)
            if field.key == "enable status":
                user = replace(user, line=field.line)
    if user and user.name != _UNNAMED:
        yield user


_RECORD = {
    "user name": "name", "privilege level": "limit", "ipmi messaging": "messaging", "enable status": "enabled",
    "link authentication": "link",
}  # fmt: skip


def _configured(text: str) -> Iterator[User]:
    for section, rows in _sections(text):
        if not section.startswith("User"):
            continue
        values = {key: value for key, value, _ in rows}
        limit = values.get("Lan_Privilege_Limit", "").upper()
        line = next((line for key, _, line in rows if key in ("Enable_User", "Lan_Privilege_Limit")), None)
        if line:
            yield User(
                section.removeprefix("User"), values.get("Username", ""), limit, line,
                values.get("Lan_Enable_IPMI_Msgs", ""), values.get("Enable_User", ""),
            )  # fmt: skip


def settings(text: str) -> list[tuple[str, str, EvidenceLine]]:
    """All settings of a FreeIPMI configuration; those of comments are what the BMC has but does not let be changed."""
    return [row for _, rows in _sections(text) for row in rows]


def _sections(text: str) -> Iterator[tuple[str, list[tuple[str, str, EvidenceLine]]]]:
    name = ""
    rows: list[tuple[str, str, EvidenceLine]] = []
    for number, raw in enumerate(text.splitlines() if "EndSection" in text else (), 1):
        words = raw.split()
        if words[:1] == ["Section"] and len(words) > 1:
            name, rows = words[1], []
        elif words[:1] == ["EndSection"]:
            yield name, rows
            name = ""
        elif name and (match := _SETTING.match(raw)) and (not match["comment"] or match["key"] == "Username"):
            rows.append((match["key"], match["value"].strip(), EvidenceLine(number, raw.strip())))


def open_cipher(text: str) -> EvidenceLine | None:
    """The row of cipher suite 0, which asks for no password, in a list of suites."""
    for number, raw in enumerate(text.splitlines(), 1):
        if _CIPHER.match(raw):
            return EvidenceLine(number, raw.strip())
    return None


TEXT_KINDS: TextKinds = (
    (
        "ipmi-users",
        matches(
            r"(?m:^ID\s+Name\s+(?:Enabled\s+)?Callin\s+Link Auth|^User ID\s+: \d"
            r"|^[ \t]*Section (?:User\d+|Lan_Channel|Rmcpplus_Conf)|^ID\s+IANA\s+Auth Alg"
            r"|^\d{1,2},[^,\n]*,(?:true|false),(?:true|false),(?:true|false),)"
        ),
    ),
)
