"""What a step must say, and whether the steps of a SOP lead somewhere."""

import re
from collections.abc import Sequence
from typing import Any

from knowledge.domain.problems import Problem
from knowledge.domain.steps import COMMON, ENDS, KEYS, VARIABLE, Step, StepType, outcomes
from knowledge.domain.strict_yaml import Block

DURATION = re.compile(r"[1-9][0-9]{0,4}[smh]")
VERSIONED = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*@[1-9][0-9]*")
WORD = re.compile(r"[a-z][a-z0-9_]*")


def check_block(key: str, block: Block, line: int, problems: list[Problem]) -> StepType | None:
    """The type of the step; what is wrong with its block is added to `problems`. None where not even the type is known."""
    if key in ENDS:
        problems.append(Problem(line, f"'{key}' is the name of an end that every SOP has; give the step another key."))
    try:
        kind = StepType(block.get("type", ""))
    except ValueError:
        problems.append(Problem(block.lines.get("type", line), f"step {key}: type is one of {', '.join(StepType)}."))
        return None
    required, optional = KEYS[kind]
    for name, at in block.lines.items():
        if name not in required | optional | COMMON:
            allowed = ", ".join(sorted(required | optional | COMMON))
            problems.append(Problem(at, f"step {key}: a {kind} step has no '{name}'; it may have {allowed}."))
    problems.extend(
        Problem(line, f"step {key}: a {kind} step needs '{name}'.") for name in required if name not in block
    )
    for name, why in SHAPES:
        wrong = why(block[name]) if name in block else ""
        if wrong:
            problems.append(Problem(block.lines[name], f"step {key}: {name}: {wrong}"))
    problems.extend(
        Problem(block.lines["labels"], f"step {key}: labels: '{answer}' is none of the answers.")
        for answer in _keys(block.get("labels")) - _keys(block.get("answers"))
    )
    _check_outcomes(key, kind, block, line, problems)
    return kind


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def _check_outcomes(key: str, kind: StepType, block: Block, line: int, problems: list[Problem]) -> None:
    given = block.get("next", {})
    if not isinstance(given, dict):
        return
    at = block.lines.get("next", line)
    needed, allowed = outcomes(kind, block)
    problems.extend(
        Problem(at, f"step {key}: next does not say where '{name}' leads.") for name in sorted(needed - set(given))
    )
    for name in given:
        if name not in needed | allowed:
            words = ", ".join(sorted(needed | allowed)) or "nothing; the path ends here"
            problems.append(Problem(at, f"step {key}: next: '{name}' cannot happen here; possible: {words}."))
    if "timeout" in given and "timeout" not in block:
        problems.append(Problem(at, f"step {key}: next names a timeout, but the step has none; write 'timeout: 10m'."))


def _targets(value: Any) -> str:
    good = isinstance(value, dict) and all(isinstance(target, str) for target in value.values())
    return "" if good else "write {name: word, name: word}."


def _answers(value: Any) -> str:
    if _targets(value) or len(value) < 2:
        return "write at least two answers: {present: driver, absent: power}."
    strange = [answer for answer in value if not WORD.fullmatch(answer)]
    if strange:
        return f"'{strange[0]}' is no answer; small letters, digits and underscores."
    taken = [answer for answer in value if answer in {"error", "timeout"}]
    return f"'{taken[0]}' is an outcome, not an answer; choose another word." if taken else ""


def _versioned(value: Any) -> str:
    return (
        ""
        if isinstance(value, str) and VERSIONED.fullmatch(value)
        else "write name@version, such as nvml@1; never a command."
    )


def _duration(value: Any) -> str:
    return "" if isinstance(value, str) and DURATION.fullmatch(value) else "write a time such as 120s, 30m or 2h."


def _retry(value: Any) -> str:
    good = isinstance(value, dict) and set(value) == {"max"} and type(value["max"]) is int and 1 <= value["max"] <= 10
    return "" if good else "write {max: n} with n from 1 to 10."


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else "write a text."


def _mapping(value: Any) -> str:
    return "" if isinstance(value, dict) and value else "write {name: value}."


def _truth(value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false."


SHAPES = (
    # key, what is wrong with its value ("" if nothing)
    ("next", _targets),
    ("answers", _answers),
    ("labels", _targets),
    ("probe", _versioned),
    ("action", _versioned),
    ("timeout", _duration),
    ("soak", _duration),
    ("retry", _retry),
    ("ask", _text),
    ("rollback", _text),
    ("risk", _text),
    ("to", _text),
    ("with", _mapping),
    ("expect", _mapping),
    ("approval", _mapping),
    ("idempotent", _truth),
)


def check_graph(steps: Sequence[Step], variables: frozenset[str], problems: list[Problem]) -> None:
    """Every target exists, nothing goes in circles but a bounded retry, every path ends, nobody is left out."""
    by_key: dict[str, Step] = {}
    for step in steps:
        if step.key in by_key:
            problems.append(
                Problem(step.line, f"the key '{step.key}' is taken by the step in line {by_key[step.key].line}.")
            )
        by_key.setdefault(step.key, step)
        _check_variables(step, variables, problems)
    if not by_key or _missing_targets(by_key, problems):
        return
    problems.extend(
        Problem(by_key[key].line, f"step {key} leads back to itself; only a step with 'retry: {{max: n}}' may.")
        for key in _in_circles(by_key)
    )
    _check_reached(steps[0].key, by_key, problems)
    _check_endings(by_key, problems)


def _missing_targets(by_key: dict[str, Step], problems: list[Problem]) -> bool:
    before = len(problems)
    for step in by_key.values():
        for outcome, target in _edges(step):
            if target not in by_key and target not in ENDS:
                ends = ", ".join(sorted(ENDS))
                problems.append(
                    Problem(
                        step.line,
                        f"step {step.key}: '{outcome}' leads to '{target}', which is no step and none of {ends}.",
                    )
                )
    return len(problems) > before


def _edges(step: Step) -> list[tuple[str, str]]:
    rollback = step.spec.get("rollback")
    return [*step.branches.items(), *([("rollback", rollback)] if isinstance(rollback, str) else [])]


def _targets_of(step: Step, by_key: dict[str, Step]) -> list[str]:
    return [target for _, target in _edges(step) if target in by_key]


def _in_circles(by_key: dict[str, Step]) -> list[str]:
    """The steps on a circle that no retry bounds. What leads nowhere but out is taken away until only circles are left."""
    rest = {key: set(_targets_of(step, by_key)) for key, step in by_key.items() if "retry" not in step.spec}
    while True:
        gone = [key for key, targets in rest.items() if not targets & rest.keys()]
        if not gone:
            return [key for key in rest if _comes_back(key, rest)]
        for key in gone:
            del rest[key]


def _comes_back(start: str, graph: dict[str, set[str]]) -> bool:
    todo, seen = list(graph[start] & graph.keys()), set()
    while todo:
        key = todo.pop()
        if key == start:
            return True
        if key not in seen:
            seen.add(key)
            todo.extend(graph[key] & graph.keys())
    return False


def _check_reached(first: str, by_key: dict[str, Step], problems: list[Problem]) -> None:
    todo, seen = [first], set()
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            todo.extend(_targets_of(by_key[key], by_key))
    problems.extend(
        Problem(step.line, f"no step leads to '{step.key}'; name it in a 'next', or delete it.")
        for step in by_key.values()
        if step.key not in seen
    )


def _check_endings(by_key: dict[str, Step], problems: list[Problem]) -> None:
    ending = {
        key
        for key, step in by_key.items()
        if step.type == StepType.ESCALATE or any(target in ENDS for target in step.branches.values())
    }
    grown = True
    while grown:
        more = {key for key, step in by_key.items() if ending & set(step.branches.values())} - ending
        ending |= more
        grown = bool(more)
    problems.extend(
        Problem(step.line, f"no path from step {step.key} comes to an end; let one lead to {', '.join(sorted(ENDS))}.")
        for step in by_key.values()
        if step.key not in ending
    )


def _check_variables(step: Step, variables: frozenset[str], problems: list[Problem]) -> None:
    problems.extend(
        Problem(step.line, f"step {step.key} uses '{{{{ {name} }}}}', which is not declared under 'vars'.")
        for name in VARIABLE.findall(step.source)
        if name.split(".")[0] not in variables
    )
    problems.extend(
        Problem(step.line, f"step {step.key}: '{text}' is no template; only {{{{ name }}}} is, with no expression.")
        for text in _texts_of(step.spec)
        if "{{" in VARIABLE.sub("", text)
    )


def _texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts_of(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts_of(item)]
    return [value] if isinstance(value, str) else []
