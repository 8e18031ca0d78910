"""The front matter of a SOP: which keys there are, and what each may hold."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from incidents.domain import faults
from incidents.domain.severity import Tier
from knowledge.domain.problems import Problem
from knowledge.domain.strict_yaml import Block

LANGUAGES = ("en", "zh-hans")
RISKS = ("read_only", "disruptive", "destructive")
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
VARIABLE_NAME = re.compile(r"[a-z][a-z0-9_]*")
BUILT_IN_VARIABLES = frozenset({"incident", "node", "finding", "profile"})


@dataclass(frozen=True)
class Head:
    """The front matter. `titles` by language; `settings` is all of it, for comparing a translation with its source."""

    id: str
    titles: Mapping[str, str]
    faults: tuple[str, ...]
    owner: str
    severity: str = ""
    models: tuple[str, ...] = ()
    risk: str = "disruptive"
    review_by: str = ""
    variables: frozenset[str] = BUILT_IN_VARIABLES
    settings: Mapping[str, Any] = field(default_factory=dict)

    def title_in(self, language: str) -> str:
        return self.titles.get(language) or next(iter(self.titles.values()), self.id)


def read(block: Block, problems: list[Problem]) -> Head:
    """The head of a SOP; what is wrong is added to `problems` and read as if it were not there."""
    _check_keys(block, problems)
    good = {key: block[key] for key in block if key in CHECKS and _accept(key, block, problems)}
    return Head(
        id=good.get("id", ""),
        titles=good.get("title", {}),
        faults=tuple(good.get("faults", ())),
        owner=good.get("owner", ""),
        severity=good.get("severity", ""),
        models=tuple(good.get("models", ())),
        risk=good.get("risk", "disruptive"),
        review_by=good.get("review_by", ""),
        variables=BUILT_IN_VARIABLES | frozenset(good.get("vars", {})),
        settings=good,
    )


def _check_keys(block: Block, problems: list[Problem]) -> None:
    for key, line in block.lines.items():
        if key not in CHECKS:
            problems.append(Problem(line, f"unknown key '{key}'; the keys are {', '.join(CHECKS)}."))
    problems.extend(
        Problem(1, f"the key '{key}' is missing in the front matter.") for key in REQUIRED if key not in block
    )


def _accept(key: str, block: Block, problems: list[Problem]) -> bool:
    why = CHECKS[key](block[key])
    if why:
        problems.append(Problem(block.lines[key], f"{key}: {why}"))
    return not why


def _version(value: Any) -> str:
    return "" if value == 1 and value is not True else "this program reads version 1; write 'sop: 1'."


def _slug(value: Any) -> str:
    good = isinstance(value, str) and SLUG.fullmatch(value) and len(value) <= 80
    return "" if good else "small letters, digits and single hyphens, at most 80."


def _titles(value: Any) -> str:
    if not isinstance(value, dict) or not value:
        return "write {en: ..., zh-hans: ...}."
    strange = [language for language in value if language not in LANGUAGES]
    if strange:
        return f"unknown language '{strange[0]}'; the languages are {', '.join(LANGUAGES)}."
    long = [text for text in value.values() if not isinstance(text, str) or not 0 < len(text.strip()) <= 200]
    return "a title is a text of 1 to 200 characters." if long else ""


def _fault_codes(value: Any) -> str:
    if not _is_texts(value) or not value:
        return "name at least one fault code: [gpu.off_bus]."
    known = {fault.code for fault in faults.all_faults()}
    strange = [code for code in value if code not in known]
    return f"there is no fault '{strange[0]}'; see the list of faults." if strange else ""


def _texts(value: Any) -> str:
    return "" if _is_texts(value) else "write a list of texts."


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and 0 < len(value.strip()) <= 200 else "write a text of 1 to 200 characters."


def _tier(value: Any) -> str:
    return "" if value in tuple(Tier) else f"one of {', '.join(Tier)}."


def _risk(value: Any) -> str:
    return "" if value in RISKS else f"one of {', '.join(RISKS)}."


def _day(value: Any) -> str:
    try:
        date.fromisoformat(value)
    except (TypeError, ValueError):
        return 'write a day in quotes: "2027-03-31".'
    return ""


def _approvers(value: Any) -> str:
    good = isinstance(value, dict) and set(value) <= {"min", "not_author"} and type(value.get("min", 1)) is int
    return "" if good and isinstance(value.get("not_author", True), bool) else "write {min: 1, not_author: true}."


def _variables(value: Any) -> str:
    if not isinstance(value, dict):
        return "write {gpu: {type: gpu, from: finding}}."
    strange = [name for name in value if not VARIABLE_NAME.fullmatch(name)]
    if strange:
        return f"'{strange[0]}' is no name; small letters, digits and underscores."
    wrong = [name for name, kind in value.items() if not isinstance(kind, dict) or not set(kind) <= {"type", "from"}]
    return f"'{wrong[0]}' has a type and a source: {{type: gpu, from: finding}}." if wrong else ""


def _sources(value: Any) -> str:
    keys = {"title", "url", "read"}
    good = isinstance(value, list) and all(
        isinstance(item, dict)
        and "title" in item
        and set(item) <= keys
        and all(isinstance(text, str) for text in item.values())
        for item in value
    )
    return "" if good else 'write [{title: ..., url: "https://...", read: "2026-11-30"}].'


CHECKS: dict[str, Callable[[Any], str]] = {
    # key: what is wrong with its value, "" if nothing
    "sop": _version,
    "id": _slug,
    "title": _titles,
    "faults": _fault_codes,
    "models": _texts,
    "severity": _tier,
    "owner": _text,
    "approvers": _approvers,
    "review_by": _day,
    "risk": _risk,
    "needs": _texts,
    "vars": _variables,
    "sources": _sources,
}
REQUIRED = ("sop", "id", "title", "faults", "owner")
