"""A run as pages show it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from diagnostics import queries
from diagnostics.engine.document import told_in
from diagnostics.models import DiagnosticRun, ProbeResult

Outcome, State = ProbeResult.Outcome, ProbeResult.State

MARKS = {
    Outcome.FINDINGS: ("fault", _("fault")),
    Outcome.CLEAN: ("clean", _("clean")),
    Outcome.COULD_NOT_CHECK: ("unknown", _("could not check")),
    Outcome.NOT_SUPPORTED: ("none", _("not supported here")),
}
WAITS, RUNS, JUDGED_SOON = ("wait", _("waits")), ("run", _("running")), ("run", _("read, not judged yet"))
# What probes say, where no Django may be imported; rows hold it in English.
MARKED = (
    gettext_noop("Kernel log"),
    gettext_noop("File systems"),
    gettext_noop("Memory"),
    gettext_noop("GPUs"),
    gettext_noop("No NVIDIA driver and no NVIDIA GPU on this machine."),
    gettext_noop("The GPUs of this node cannot be asked on this way."),
    gettext_noop("This machine has neither journalctl nor dmesg."),
    gettext_noop(
        "The kernel log is empty, which says nothing: a container may hide it. "
        "Run Sickbay on the host or upload the log."
    ),
    gettext_noop("This machine has no /proc/meminfo."),
    gettext_noop("This machine has no /proc/self/mounts."),
    gettext_noop("There is no evidence."),
)
ORDER = ("fault", "unknown", "clean", "none", "run", "wait")


@dataclass(frozen=True)
class Answer:
    """What one probe says: its mark ("fault", "clean", "unknown", "none", "run", "wait"), the word, the reason."""

    probe: str
    title: str
    mark: str
    word: str | Promise
    reason: str
    attempts: int
    took: timedelta | None


@dataclass(frozen=True)
class Block:
    """A piece of the bar; `x` and `width` in per cent."""

    kind: str
    x: str
    width: str
    words: str


@dataclass(frozen=True)
class View:
    """A run with its answers, the bar, the counts, and what could not be checked and why."""

    run: DiagnosticRun
    progress: queries.Progress
    answers: tuple[Answer, ...]
    blocks: tuple[Block, ...]
    counts: tuple[tuple[str, str | Promise, int], ...]
    unchecked: tuple[tuple[str, str], ...]

    @property
    def roots(self) -> list[dict[str, str]]:
        roots: list[dict[str, str]] = self.run.summary.get("roots", [])
        return roots


def view_of(run: DiagnosticRun) -> View:
    """Uses the prefetched probes of the run."""
    progress = queries.run_progress(run)
    answers = tuple(_answer(line) for line in progress.lines)
    words = {answer.mark: answer.word for answer in answers}
    counts = Counter(answer.mark for answer in answers)
    return View(
        run,
        progress,
        answers,
        tuple(_blocks(sorted(answers, key=lambda one: ORDER.index(one.mark)))),
        tuple((mark, words[mark], counts[mark]) for mark in ORDER if counts[mark]),
        tuple(_unchecked(run, answers)),
    )


def _answer(line: queries.ProbeLine) -> Answer:
    mark, word = MARKS.get(Outcome(line.outcome), WAITS) if line.outcome else _before(line.state)
    took = line.finished_at - line.started_at if line.finished_at and line.started_at else None
    return Answer(line.probe, _said(line.title), mark, word, _said(line.reason), line.attempts, took)


def _said(text: str) -> str:
    """The sentence in the language of the page, if it is one of those that are marked or that the engine says."""
    return told_in(gettext(text), get_language() or "en") if text else ""


def _before(state: str) -> tuple[str, str | Promise]:
    """A probe without an outcome: waits, runs, or was read and is not judged yet."""
    return {State.RUNNING: RUNS, State.DONE: JUDGED_SOON}.get(State(state), WAITS)


def _blocks(answers: Iterable[Answer]) -> Iterable[Block]:
    answers = list(answers)
    step = 100 / max(len(answers), 1)
    for place, answer in enumerate(answers):
        kind = {"none": "", "wait": ""}.get(answer.mark, answer.mark)
        yield Block(kind, f"{place * step + 0.15:.2f}%", f"{step - 0.6:.2f}%", f"{answer.title}: {answer.word}")


def _unchecked(run: DiagnosticRun, answers: Iterable[Answer]) -> Iterable[tuple[str, str]]:
    """What could not be checked, once each: what the probes said, then what the engine could not judge."""
    told: dict[str, str] = {one.title: one.reason for one in answers if one.mark == "unknown"}
    gaps: list[dict[str, Any]] = run.summary.get("could_not_check", [])
    for gap in gaps:
        reason = _said(gap["reason"])
        if reason not in told.values():
            told.setdefault(_said(gap["name"]), reason)
    return told.items()
