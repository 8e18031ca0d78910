"""Frozen values of the engine as JSON and back, so that they can pass between processes without pickle."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def plain(value: Any) -> Any:
    """What JSON knows: objects, lists, text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def rebuilt(wanted: Any, value: Any) -> Any:
    """The value of the wanted type from its plain form."""
    if value is None or wanted is Any:
        return value
    if is_dataclass(wanted):
        make: Any = wanted
        hints = _hints(make)
        return make(**{name: rebuilt(hints[name], one) for name, one in value.items()})
    if wanted is datetime:
        return datetime.fromisoformat(value)
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return rebuilt(next(one for one in arguments if one is not type(None)), value)
    if origin is tuple:
        return tuple(rebuilt(arguments[0], one) for one in value)
    if origin in (Literal, Mapping) or wanted in (str, int, float, bool):
        return value
    return value if origin is None else origin(value)


@lru_cache(maxsize=64)
def _hints(wanted: Any) -> dict[str, Any]:
    return get_type_hints(wanted)
