"""Who may log in to a BMC and how: what an auditor calls open."""

import re
from collections.abc import Iterator

from diagnostics.engine.catalog import bmc as catalog
from diagnostics.engine.parsers import ipmi_fields, ipmi_users
from diagnostics.engine.parsers.ipmi_fields import Field
from diagnostics.engine.parsers.ipmi_users import User
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role

DEFAULT_NAMES = frozenset(["admin", "root", "userid", "administrator", "guest", "sysadmin"])
_ADMINISTRATOR = ("ADMINISTRATOR", "OEM", "OEM_PROPRIETARY")
_METHOD_NONE = re.compile(r"\bNONE\b")
_CIPHER_ZERO = re.compile(r"Maximum_Privilege_Cipher_Suite_Id_0$")
_TYPE_NONE = re.compile(r"_Enable_Auth_Type_None$")


def judge_users(log: Log, *, source_name: str) -> list[Observation]:
    text = log.text
    found = [
        _say(line, source_name, role=role, component=name) for line, role, name in _accounts(ipmi_users.users(text))
    ]
    if cipher := ipmi_users.open_cipher(text):
        found.append(_say(cipher, source_name, component="cipher suite 0"))
    return found + [_say(line, source_name, component=key) for key, line in _settings(text)]


def _accounts(users: list[User]) -> Iterator[tuple[EvidenceLine, Role, str]]:
    for user in users:
        if not user.can_log_in:
            continue
        if user.is_anonymous:
            yield user.line, "root", f"user {user.number}"
        elif user.name.lower() in DEFAULT_NAMES and user.limit.upper() in _ADMINISTRATOR:
            # An account under its factory name is everywhere; one that is open over serial and modem links too is not meant.
            yield user.line, "root" if user.link == "enabled" else "note", user.name


def _settings(text: str) -> Iterator[tuple[str, EvidenceLine]]:
    for key, value, line in ipmi_users.settings(text):
        if _CIPHER_ZERO.search(key) and value.lower() not in ("unused", "reserved"):
            yield "cipher suite 0", line
        elif _TYPE_NONE.search(key) and value.lower() == "yes":
            yield "authentication type none", line


def judge_lan(log: Log, *, source_name: str) -> list[Observation]:
    fields = ipmi_fields.fields(log.text)
    found = [
        _say(field.line, source_name, component="authentication type none")
        for field in fields
        if field.key == "auth type enable" and _METHOD_NONE.search(field.value)
    ]
    if line := _open_suite(fields):
        found.append(_say(line, source_name, component="cipher suite 0"))
    return found + _no_address(fields, source_name)


def _open_suite(fields: list[Field]) -> EvidenceLine | None:
    """Cipher suite 0 asks for no password; X in its place means that it is not in use."""
    suites = next((field.value for field in fields if field.key == "rmcp+ cipher suites"), "")
    limits = next((field for field in fields if field.key == "cipher suite priv max"), None)
    numbers = [number.strip() for number in suites.split(",")]
    if limits is None or "0" not in numbers:
        return None
    place = numbers.index("0")
    letter = limits.value[place : place + 1] if " " not in limits.value else ""
    return limits.line if letter in ("c", "u", "o", "a", "O") else None


def _no_address(fields: list[Field], source_name: str) -> list[Observation]:
    source = next((field.value for field in fields if field.key == "ip address source"), "")
    return [
        Observation(
            "bmc.unreachable", field.line, source_name, role="root" if "DHCP" in source else "note", order=field.line.number
        )
        for field in fields
        if field.key == "ip address" and field.value == "0.0.0.0"  # noqa: S104 (an address that is read, not bound)
    ]  # fmt: skip


def judge_fields(log: Log, *, source_name: str) -> list[Observation]:
    """The lines of chassis, event log size, self-test and controller."""
    found = []
    for field in ipmi_fields.fields(log.text):
        for rule in catalog.field_rules():
            if rule.key.search(field.key) and rule.value.search(field.value):
                meaning = rule.meaning
                found.append(
                    Observation(meaning.fault, field.line, source_name, role=meaning.role, order=field.line.number)
                )
    return found


def _say(line: EvidenceLine, source_name: str, *, role: Role = "root", component: str | None = None) -> Observation:
    return Observation("bmc.insecure", line, source_name, role=role, component=component, order=line.number)
