"""Redfish documents: a resource, a collection with Members, or an event with Events."""

from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds


def looks_like(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if any(key.startswith("@odata") for key in value):
        return True
    members = value.get("Members") or value.get("Events")
    return isinstance(members, list) and bool(members) and isinstance(members[0], dict)


JSON_KINDS: JsonKinds = (("redfish", looks_like),)
