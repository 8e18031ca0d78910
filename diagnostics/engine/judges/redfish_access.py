"""Accounts and protocols of a Redfish service: what an auditor calls open."""

from collections.abc import Iterator
from typing import Any

from diagnostics.engine.judges.bmc_access import DEFAULT_NAMES
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.redfish import resources, text_of
from diagnostics.engine.types import Observation, Role

_NO_ACCESS = ("NoAccess", "None", "No Access", "")
_UNNAMED = {"UserName": "anonymous"}
_PROTOCOLS: dict[str, Role] = {"Telnet": "root", "IPMI": "note", "HTTP": "note"}


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    found = []
    for kind, value in resources(document.value):
        for key, said, role, part in (*_account(value), *_protocols(kind, value), *_lockout(kind, value)):
            line = document.locate(key, value=said, after=f'"{part}"' if part else "")
            found.append(
                Observation(
                    "bmc.insecure", line, source_name, role=role, component=part or _UNNAMED.get(key), order=line.number
                )
            )
    return found


def _account(value: dict[str, Any]) -> Iterator[tuple[str, str, Role, str]]:
    name, role_id = value.get("UserName"), text_of(value.get("RoleId"))
    if not isinstance(name, str) or value.get("Enabled") is not True or role_id in _NO_ACCESS:
        return
    if name.strip().lower() in ("", "anonymous"):
        yield "UserName", f'"{name}"', "root", ""
    elif name.lower() in DEFAULT_NAMES:
        # the factory password is still in place
        waiting = value.get("PasswordChangeRequired") is True
        yield "UserName", f'"{name}"', "root" if waiting else "note", name


def _protocols(kind: str, value: dict[str, Any]) -> Iterator[tuple[str, str, Role, str]]:
    if "ManagerNetworkProtocol" not in kind and "NetworkProtocol" not in text_of(value.get("@odata.id")):
        return
    for name, role in _PROTOCOLS.items():
        settings = value.get(name)
        if isinstance(settings, dict) and settings.get("ProtocolEnabled") is True:
            yield "ProtocolEnabled", "true", role, name


def _lockout(kind: str, value: dict[str, Any]) -> Iterator[tuple[str, str, Role, str]]:
    if kind == "AccountService" and value.get("AccountLockoutThreshold") == 0:
        yield "AccountLockoutThreshold", "0", "note", ""
