"""How a judge of a GPU's settings reads values and says what they mean."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from diagnostics.engine import catalog, components
from diagnostics.engine.catalog import gpu_settings as catalog_of_settings
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Confidence, EvidenceLine, Observation, Role


class Speaker:
    """Collects what is said of the settings of one source."""

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self.found: list[Observation] = []

    def __call__(
        self, fault: str, row: Setting, *, role: Role = "root", confidence: Confidence = "high", detail: str = "", count: int = 1
    ) -> None:  # fmt: skip
        component = self.component_of(row)
        says_action = row.path.endswith("recovery_action")
        self.found.append(
            Observation(
                fault, EvidenceLine(row.number, row.raw), self._source_name, role=role, component=component,
                confidence=confidence, detail=detail, action=row.value if says_action else None,
                authorities={"driver": row.value} if says_action else {}, count=count, order=row.number,
                signature=f"setting-{row.path}",
            )
        )  # fmt: skip

    @staticmethod
    def component_of(row: Setting) -> str | None:
        return components.pci(row.gpu, board=True) or row.gpu or None


_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:[xX%]|[A-Za-z]{1,3})?")


@lru_cache(maxsize=16384)
def number(text: str) -> float | None:
    """`16x`, `4`, `31 C`, `70.30 W`; None for what is no number ("N/A", "16 of 20")."""
    match = _NUMBER.fullmatch(text.strip())
    return float(match.group(1)) if match else None


def limits_of_gpu() -> dict[str, Any]:
    gpu: dict[str, Any] = catalog.thresholds()["gpu"]
    return gpu


def first(rows: Sequence[Setting], pattern: re.Pattern[str]) -> Setting | None:
    return next((row for row in rows if pattern.search(row.path)), None)


def values(rows: Sequence[Setting], *patterns: re.Pattern[str]) -> tuple[tuple[Setting, float] | None, ...]:
    """For each pattern the first setting of such a path with its number, None where it has none or 0."""
    found: list[tuple[Setting, float] | None] = []
    for pattern in patterns:
        row = first(rows, pattern)
        value = number(row.value) if row else None
        found.append((row, value) if row and value else None)
    return tuple(found)


def is_read(row: Setting) -> bool:
    return catalog_of_settings.unread().match(row.value) is None
