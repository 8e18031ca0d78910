"""Hardware profiles: what is true of a model of GPU (profiles.toml), and what a site says of its own nodes.

[node]
gpus = 8                # how many a node has
ib_rate_gb_s = 400      # of its InfiniBand ports

[[gpu]]                 # as in profiles.toml
model = 'NVIDIA H100 80GB HBM3'
slowdown_c = 85
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog


class BadProfile(ValueError):
    """What is wrong with a profile, where, and what it should be."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """Temperatures in degrees Celsius, speed of a link in 10**9 bytes per second."""

    model: str
    baseboard: bool = False
    link_gb_s: float | None = None
    slowdown_c: float | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What a site says of a node; None where it says nothing."""

    gpus: int | None = None
    ib_rate_gb_s: float | None = None
    gpu_rows: tuple[Gpu, ...] = ()


NOTHING = Profile()
_current: ContextVar[Profile] = ContextVar("profile", default=NOTHING)


@contextmanager
def used(profile: Profile) -> Iterator[None]:
    """For all that is judged meanwhile."""
    token = _current.set(profile)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Profile:
    return _current.get()


def gpu(name: str) -> Gpu | None:
    """The row of a GPU of this name; None if nothing is known of its model."""
    return next((row for row in (*current().gpu_rows, *_rows()) if name and re.fullmatch(row.model, name)), None)


def read(text: str) -> Profile:
    """A site's profile; raises BadProfile."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadProfile(f"it is no TOML: {error}") from error
    _known(given, "the profile", ("node", "gpu"))
    node = given.get("node", {})
    _known(node, "[node]", ("gpus", "ib_rate_gb_s"))
    gpus, rate = _number(node, "[node]", "gpus"), _number(node, "[node]", "ib_rate_gb_s")
    rows = given.get("gpu", [])
    if not isinstance(rows, list):
        raise BadProfile("[[gpu]] is no list of tables")
    return Profile(None if gpus is None else int(gpus), rate, tuple(_gpu(row) for row in rows))


@lru_cache(maxsize=1)
def _rows() -> tuple[Gpu, ...]:
    return tuple(_gpu(row) for row in catalog.table("profiles.toml")["gpu"])


def _gpu(row: Mapping[str, Any]) -> Gpu:
    _known(row, "[[gpu]]", tuple(field.name for field in fields(Gpu)))
    model = row.get("model")
    if not isinstance(model, str):
        raise BadProfile("[[gpu]]: model is missing; give a pattern of the name that nvidia-smi prints")
    try:
        re.compile(model)
    except re.error as error:
        raise BadProfile(f"[[gpu]] {model}: model is no pattern: {error}") from error
    where = f"[[gpu]] {model}"
    return Gpu(
        model, row.get("baseboard", False) is True, _number(row, where, "link_gb_s"), _number(row, where, "slowdown_c")
    )


def _known(given: Any, where: str, names: tuple[str, ...]) -> None:
    if not isinstance(given, Mapping):
        raise BadProfile(f"{where} is no table")
    if unknown := sorted(set(given) - set(names)):
        raise BadProfile(f"{where}: {unknown[0]} is not known; known are {', '.join(names)}")


def _number(given: Mapping[str, Any], where: str, name: str) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise BadProfile(f"{where}: {name} is {value!r}; give a number above zero")
    return float(value)
