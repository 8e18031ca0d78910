"""Chinese for what findings say of themselves: phrases.toml. They are kept in English; a page or a report turns them as it shows them."""

import re
from functools import lru_cache

from diagnostics.engine import catalog

_PLACE = re.compile(r"\\\{(\w+)\\\}")
_JOINT = "; "


@lru_cache(maxsize=1024)
def in_chinese(text: str) -> str:
    """Each part of a detail by itself; what is not in the table (a device's own words, an Xid's name) stays as it is."""
    return _JOINT.join(_turned(part) for part in text.split(_JOINT))


def _turned(part: str) -> str:
    for pattern, chinese in _phrases():
        if match := pattern.fullmatch(part):
            return chinese.format(**match.groupdict())
    name, colon, rest = part.partition(": ")  # what was looked at, and what is said of it
    return f"{_turned(name)}: {_turned(rest)}" if colon else part


@lru_cache(maxsize=1)
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    told = [(one.detail, one.detail_zh) for one in catalog.repeats()]
    told += [(row["en"], row["zh"]) for row in catalog.table("phrases.toml")["phrase"]]
    return tuple((_pattern(english), chinese) for english, chinese in told)


def _pattern(english: str) -> re.Pattern[str]:
    """`{n} of {m} GPUs` as a pattern with a group for each place."""
    return re.compile(_PLACE.sub(r"(?P<\1>.+?)", re.escape(english)))
