"""The Markdown form of a SOP, version 1: front matter, sections, steps.

    ---
    sop: 1
    id: gpu-off-bus
    title: {en: GPU fallen off the bus, zh-hans: GPU 掉卡}
    faults: [gpu.off_bus]
    ...
    ---
    ## Meaning
    ## Steps
    ### step drain: Drain the node
    ~~~sop-step
    type: action
    action: scheduler.drain@1
    next: {ok: evidence, error: escalate}
    ~~~
    Words for people.
    ## Verification
    ## Escalation

`parse` says everything that is wrong with a text, each with its line; `serialise` gives the very bytes back.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowledge.domain import front_matter, step_rules, strict_yaml
from knowledge.domain.front_matter import Head
from knowledge.domain.problems import FormatError, Problem
from knowledge.domain.steps import DISRUPTIVE, WORDS, Step, StepType

MAX_BYTES = 512 * 1024
SECTIONS = ("Meaning", "Impact", "Steps", "Verification", "Rollback", "Escalation", "Notes")
"""Headings that a SOP may have, in this order; the same words in every language, the page shows them translated."""
REQUIRED_SECTIONS = ("Meaning", "Steps", "Verification", "Escalation")

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
STEP_HEADING = re.compile(r"### step ([a-z][a-z0-9-]{0,39}): (\S.*)")
STEP_BLOCK = "~~~sop-step"


@dataclass(frozen=True)
class Section:
    """`source` is the section as written, heading included; in `Steps` it ends where the first step begins."""

    title: str
    line: int
    source: str

    @property
    def prose(self) -> str:
        return self.source.split("\n", 1)[1].strip() if "\n" in self.source else ""


@dataclass(frozen=True)
class Document:
    """A SOP that keeps every rule. `opening` is the front matter as written, with its two lines of dashes."""

    head: Head
    opening: str
    sections: tuple[Section, ...]
    steps: tuple[Step, ...]

    @property
    def has_actions(self) -> bool:
        return any(step.type in DISRUPTIVE for step in self.steps)

    def section(self, title: str) -> Section | None:
        return next((section for section in self.sections if section.title == title), None)


def parse(text: str) -> Document:
    """The document; raises FormatError with every problem found."""
    _refuse_bytes(text)
    lines = text.split("\n")
    end = _end_of_front_matter(lines)
    problems: list[Problem] = []
    head = front_matter.read(strict_yaml.load("\n".join(lines[1:end]), first_line=2), problems)
    sections, steps = _body(lines, end + 1, problems)
    step_rules.check_graph(steps, head.variables, problems)
    if problems:
        raise FormatError(problems)
    opening = "".join(f"{line}\n" for line in lines[: sections[0].line - 1])
    return Document(head, opening, tuple(sections), tuple(steps))


def serialise(document: Document) -> str:
    """The text from which the document was parsed, byte for byte."""
    parts = [document.opening]
    for section in document.sections:
        parts.append(section.source)
        if section.title == "Steps":
            parts.extend(step.source for step in document.steps)
    return "".join(parts)


def structure_differences(source: Document, translation: Document) -> tuple[str, ...]:
    """What a translation changed besides the words; empty if it follows its source in every step and setting."""
    differences = []
    if source.head.settings != translation.head.settings:
        differences.append("the front matter differs")
    theirs = {step.key: step for step in translation.steps}
    for step in source.steps:
        other = theirs.pop(step.key, None)
        if other is None:
            differences.append(f"step {step.key} is missing")
        elif _settings(step) != _settings(other):
            differences.append(f"step {step.key} has other settings")
        elif step.position != other.position:
            differences.append(f"step {step.key} stands at another place")
    return (*differences, *(f"step {key} is not in the source" for key in theirs))


def _settings(step: Step) -> dict[str, Any]:
    """All but the words for people."""
    return {key: value for key, value in step.spec.items() if key not in WORDS}


def _refuse_bytes(text: str) -> None:
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise FormatError([Problem(1, f"longer than {MAX_BYTES // 1024} KB; split it into several SOPs.")])
    for number, line in enumerate(text.split("\n"), start=1):
        if "\r" in line:
            raise FormatError([Problem(number, "ends with a carriage return; save the file with LF line ends.")])
        if any((ord(char) < 32 and char != "\t") or 0xD800 <= ord(char) <= 0xDFFF or char == "\ufeff" for char in line):
            raise FormatError([Problem(number, "holds a control character or a byte order mark; delete it.")])


def _end_of_front_matter(lines: list[str]) -> int:
    """The index of the second line of dashes."""
    if lines[0] != "---":
        raise FormatError([Problem(1, "a SOP begins with a line '---' and its front matter.")])
    try:
        return lines.index("---", 1)
    except ValueError:
        raise FormatError([Problem(1, "the front matter does not end; close it with a line '---'.")]) from None


def _headings(lines: list[str], start: int) -> Iterator[tuple[int, str]]:
    """(index, line) of the `##` and `###` headings from `start` on; what stands in a fence is no heading."""
    fence = ""
    for index in range(start, len(lines)):
        match = FENCE.fullmatch(lines[index])
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not match[2].strip():
            fence = ""
        elif not fence and lines[index].startswith(("## ", "### step")):
            yield index, lines[index]


def _body(lines: list[str], start: int, problems: list[Problem]) -> tuple[list[Section], list[Step]]:
    headings = list(_headings(lines, start))
    if not headings:
        raise FormatError([Problem(start + 1, f"the sections are missing: {', '.join(REQUIRED_SECTIONS)}.")])
    _refuse_stray_text(lines, start, headings[0][0], problems)
    bounds = [index for index, _ in headings[1:]] + [len(lines)]
    sections: list[Section] = []
    steps: list[Step] = []
    for (index, heading), end in zip(headings, bounds, strict=True):
        source = "\n".join(lines[index:end]) + ("\n" if end < len(lines) else "")
        if heading.startswith("## "):
            sections.append(Section(heading[3:].strip(), index + 1, source))
        elif not sections or sections[-1].title != "Steps":
            problems.append(Problem(index + 1, "a step belongs into the section '## Steps'."))
        else:
            step = _step(source, index + 1, len(steps) + 1, problems)
            steps.extend([step] if step else [])
    _check_sections(sections, steps, problems)
    return sections, steps


def _refuse_stray_text(lines: list[str], start: int, end: int, problems: list[Problem]) -> None:
    for index in range(start, end):
        if lines[index].strip():
            problems.append(Problem(index + 1, "text before the first section; put it under '## Meaning'."))
            return


def _check_sections(sections: list[Section], steps: list[Step], problems: list[Problem]) -> None:
    seen: set[str] = set()
    place = -1
    for section in sections:
        if section.title not in SECTIONS:
            problems.append(
                Problem(section.line, f"there is no section '{section.title}'; use one of {', '.join(SECTIONS)}.")
            )
            continue
        if section.title in seen:
            problems.append(Problem(section.line, f"the section '{section.title}' stands here twice; join the two."))
        elif SECTIONS.index(section.title) < place:
            problems.append(
                Problem(section.line, f"'{section.title}' comes too late; the order is {', '.join(SECTIONS)}.")
            )
        place = max(place, SECTIONS.index(section.title))
        seen.add(section.title)
        if section.title in REQUIRED_SECTIONS and not section.prose and section.title != "Steps":
            problems.append(Problem(section.line, f"the section '{section.title}' is empty; write it."))
    last = sections[-1].line if sections else 1
    problems.extend(
        Problem(last, f"the section '## {title}' is missing.") for title in REQUIRED_SECTIONS if title not in seen
    )
    if "Steps" in seen and not steps:
        problems.append(Problem(last, "the section 'Steps' has no step; write '### step key: Title'."))


def _step(source: str, line: int, position: int, problems: list[Problem]) -> Step | None:
    lines = source.split("\n")
    match = STEP_HEADING.fullmatch(lines[0].rstrip())
    if not match:
        problems.append(
            Problem(
                line, "write '### step key: Title'; a key is made of small letters, digits and hyphens, at most 40."
            )
        )
        return None
    begin = next((index for index in range(1, len(lines)) if lines[index].strip()), 0)
    if lines[begin] != STEP_BLOCK or "~~~" not in lines[begin:]:
        problems.append(
            Problem(line, f"step {match[1]} needs a block '{STEP_BLOCK}' ... '~~~' right under its heading.")
        )
        return None
    end = lines.index("~~~", begin)
    try:
        block = strict_yaml.load("\n".join(lines[begin + 1 : end]), first_line=line + begin + 1)
    except FormatError as error:
        problems.extend(error.problems)
        return None
    kind = step_rules.check_block(match[1], block, line + begin, problems)
    if kind is None:
        return None
    prose = "\n".join(lines[end + 1 :]).strip()
    if not prose and kind != StepType.DECISION:
        problems.append(Problem(line, f"step {match[1]} has no words for people; say what to do and what to expect."))
    return Step(match[1], match[2].strip(), kind, position, line, prose, source, dict(block))
