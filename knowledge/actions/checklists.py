"""Working through a SOP inside an incident. Each tick is a row of its own, with who and when."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from incidents import events
from incidents.actions import journal
from incidents.actions.rights import Actor, name_of, person, require
from incidents.domain.actors import SICKBAY
from incidents.domain.workflow import State
from incidents.lib.errors import Invalid, Refused
from incidents.models import Incident
from knowledge import queries
from knowledge.domain.route import StepState, Waypoint, outcome_of
from knowledge.domain.steps import DISRUPTIVE, StepType, branches
from knowledge.models import ChecklistRun, SopRevision, Step, StepResult

NOTED = {
    StepState.DONE: "step_done",
    StepState.FAILED: "step_failed",
    StepState.SKIPPED: "step_skipped",
    StepState.UNDONE: "step_undone",
}
WORKABLE = frozenset(State) - {State.CLOSED, State.MERGED}


def start(incident: Incident, revision: SopRevision, *, by: Actor, at: datetime) -> ChecklistRun:
    """Open the checklist of a revision, pinned; the one already open for this SOP, if there is one."""
    require(by, "checklist.work", incident)
    if queries.is_withdrawn(revision):
        raise Refused(_("%(revision)s was withdrawn. Choose another SOP.") % {"revision": revision})
    if not (queries.is_published(revision) or queries.is_pinned(revision, incident)):
        raise Refused(_("%(revision)s is not published. Start the published revision.") % {"revision": revision})
    with transaction.atomic():
        _hold(incident.pk)
        try:
            with transaction.atomic():
                run = _insert(incident, revision, by=by, at=at)
        except IntegrityError:
            return queries.open_checklist(incident, revision.sop)
        _tell(run, "checklist_started", by=by, at=at)
    return run


def _insert(
    incident: Incident, revision: SopRevision, *, by: Actor, at: datetime, skip_reason: str = ""
) -> ChecklistRun:
    """An open checklist; with a reason, one that was not worked through."""
    return ChecklistRun.objects.create(
        incident=incident,
        sop=revision.sop,
        revision=revision,
        content_sha256=revision.content_sha256,
        language=revision.language,
        state=ChecklistRun.State.ABANDONED if skip_reason else ChecklistRun.State.OPEN,
        skip_reason=skip_reason,
        started_by=person(by),
        started_by_name=name_of(by)[:120],
        started_at=at,
        finished_at=at if skip_reason else None,
    )


def tick(
    run: ChecklistRun,
    step_key: str,
    *,
    state: str,
    by: Actor,
    at: datetime,
    answer: str = "",
    note: str = "",
    expected_latest: int | None = None,
) -> StepResult:
    """Say what became of a step: done, failed, skipped (both with a note) or undone. The same said twice is one row.

    `answer` belongs to a decision. `expected_latest` is the id of the result that the person saw (0 for none): if another one
    came between, the tick is refused. The checklist is finished when its path has come to an end.
    """
    require(by, "checklist.work", run.incident)
    state = _known(state)
    note = note.strip()
    if state in (StepState.FAILED, StepState.SKIPPED) and not note:
        raise Invalid(_("Say why the step was skipped.") if state == StepState.SKIPPED else _("Say what went wrong."))
    with _locked(run) as row:
        step = _step(row, step_key)
        outcome = _outcome(step, state, answer)
        latest = queries.latest_result(row, step_key)
        if latest and _says_the_same(latest, state, outcome, note) and not _comes_again(row, step_key, state):
            return latest
        if latest is None and state == StepState.UNDONE:
            raise Refused(_("There is nothing to take back: the step is not ticked."))
        if expected_latest is not None and expected_latest != (latest.pk if latest else 0):
            raise Refused(_overtaken(latest))
        _refuse_unworkable(row, step, state)
        result = _record(row, step, state, outcome, note, by=by, at=at)
        _follow(row, by=by, at=at)
    run.refresh_from_db()
    return result


def _known(state: str) -> StepState:
    try:
        return StepState(state)
    except ValueError:
        raise Invalid(_("A step is done, failed, skipped or undone.")) from None


def _step(run: ChecklistRun, key: str) -> Step:
    step = Step.objects.filter(revision=run.revision_id, key=key).first()
    if step is None:
        raise Invalid(_("This SOP has no step '%(key)s'.") % {"key": key})
    return step


def _outcome(step: Step, state: StepState, answer: str) -> str:
    if state == StepState.UNDONE:
        return ""
    if step.type == StepType.DECISION:
        answers = step.spec["answers"]
        if state == StepState.SKIPPED:
            raise Invalid(
                _("A question cannot be skipped, its answer leads on. If no answer fits, mark it failed and say why.")
            )
        if state == StepState.DONE and answer not in answers:
            raise Invalid(_("Choose one of the answers: %(answers)s.") % {"answers": ", ".join(answers)})
    return outcome_of(Waypoint(step.key, step.type, branches(step.spec)), state, answer=answer)


def _says_the_same(latest: StepResult, state: StepState, outcome: str, note: str) -> bool:
    return (latest.state, latest.outcome) == (state, outcome) and note in ("", latest.note)


def _comes_again(run: ChecklistRun, key: str, state: StepState) -> bool:
    """True if the path has led back to this step, so that the old tick no longer counts."""
    return state != StepState.UNDONE and queries.route_of(run).current == key


def _overtaken(latest: StepResult | None) -> str:
    if latest is None:
        return _("The step is not ticked any more. Reload to see how it stands.")
    words = {"name": latest.by_name, "state": latest.get_state_display()}
    return _("%(name)s marked this step as %(state)s meanwhile. Reload to see how it stands.") % words


def _refuse_unworkable(run: ChecklistRun, step: Step, state: StepState) -> None:
    if run.state == ChecklistRun.State.ABANDONED or (
        run.state == ChecklistRun.State.FINISHED and state != StepState.UNDONE
    ):
        raise Refused(
            _("This checklist is %(state)s. Take a tick back, or start it anew.") % {"state": run.get_state_display()}
        )
    if step.type in DISRUPTIVE and state == StepState.DONE and queries.is_withdrawn(run.revision):
        raise Refused(_("This revision was withdrawn: do not carry out its action steps. Start the newest one."))


def _record(
    run: ChecklistRun, step: Step, state: StepState, outcome: str, note: str, *, by: Actor, at: datetime
) -> StepResult:
    _tell(
        run,
        NOTED[state],
        by=by,
        at=at,
        text=note,
        step=step.key,
        step_title=step.title,
        number=step.position,
        outcome=outcome,
    )
    return StepResult.objects.create(
        run=run,
        step_key=step.key,
        step_sha256=step.sha256,
        state=state,
        outcome=outcome,
        note=note,
        by=person(by),
        by_name=name_of(by)[:120],
        at=at,
    )


def _follow(run: ChecklistRun, *, by: Actor, at: datetime) -> None:
    """Finish the checklist when its path has ended; open it again when a tick was taken back."""
    end = queries.route_of(run).end
    if end and run.state == ChecklistRun.State.OPEN:
        run.state, run.end, run.finished_at = ChecklistRun.State.FINISHED, end, at
        _tell(run, "checklist_finished", by=by, at=at, end=end)
        events.announce("checklist_finished", at=at, checklist=run.pk, incident=run.incident_id, end=end)
    elif not end and run.state == ChecklistRun.State.FINISHED:
        if ChecklistRun.objects.filter(
            incident=run.incident_id, sop=run.sop_id, state=ChecklistRun.State.OPEN
        ).exists():
            raise Refused(_("Another checklist of this SOP is open; work on that one."))
        run.state, run.end, run.finished_at = ChecklistRun.State.OPEN, "", None


def abandon(run: ChecklistRun, *, reason: str, by: Actor, at: datetime) -> None:
    """Leave an open checklist before its end, and say why."""
    require(by, "checklist.work", run.incident)
    if not reason.strip():
        raise Invalid(_("Say why the checklist is left."))
    with _locked(run) as row:
        if row.state != ChecklistRun.State.OPEN:
            return
        row.state, row.skip_reason, row.finished_at = ChecklistRun.State.ABANDONED, reason.strip(), at
        _tell(row, "checklist_abandoned", by=by, at=at, text=reason.strip())
    run.refresh_from_db()


def explain_skip(incident: Incident, *, reason: str, by: Actor, at: datetime) -> None:
    """Say why the SOP was not used: leaves what is open, or notes that the suggested one was never begun."""
    require(by, "checklist.work", incident)
    if not reason.strip():
        raise Invalid(_("Say why no checklist was used."))
    opened = list(incident.checklists.filter(state=ChecklistRun.State.OPEN))
    if opened:
        for run in opened:
            abandon(run, reason=reason, by=by, at=at)
        return
    if incident.checklists.exists():
        return  # worked through or explained already
    revision = queries.suggested_revision(incident)
    if revision is None:
        raise Refused(_("No SOP is published for this fault, so there is nothing to explain."))
    with transaction.atomic():
        _hold(incident.pk)
        run = _insert(incident, revision, by=by, at=at, skip_reason=reason.strip())
        _tell(run, "checklist_abandoned", by=by, at=at, text=reason.strip())


def follow_merge(incident: Incident, into: Incident, at: datetime) -> None:
    """The checklists of a merged incident go along; where both work by one SOP, the merged one's is left."""
    for run in incident.checklists.select_related("revision__sop"):
        if run.state == ChecklistRun.State.OPEN and into.checklists.filter(sop=run.sop_id, state=run.state).exists():
            run.state, run.finished_at = ChecklistRun.State.ABANDONED, at
            run.skip_reason = _("Goes on in the checklist of %(reference)s.") % {"reference": into.reference}
        run.incident = into
        run.save()
        _tell(run, "checklist_moved", by=SICKBAY, at=at, other=incident.reference)


@contextmanager
def _locked(run: ChecklistRun) -> Iterator[ChecklistRun]:
    """The checklist as it is now, held; the incident first, as everywhere, so that two of us never wait for each other."""
    with transaction.atomic():
        incident_id = ChecklistRun.objects.values_list("incident_id", flat=True).get(pk=run.pk)
        _hold(incident_id)
        row = ChecklistRun.objects.select_for_update(of=("self",)).select_related("revision__sop").get(pk=run.pk)
        yield row
        row.save()


def _hold(incident_id: int) -> None:
    """Keep the incident as it is until the end of the transaction; refused once it is closed or merged."""
    incident = Incident.objects.select_for_update().get(pk=incident_id)
    if incident.state not in WORKABLE:
        raise Refused(
            _("%(reference)s is %(state)s; its checklists can no longer be changed.")
            % {"reference": incident.reference, "state": incident.get_state_display()}
        )


def _tell(run: ChecklistRun, kind: str, *, by: Actor, at: datetime, text: str = "", **data: object) -> None:
    """A timeline entry; the incident's version counts on, so that live pages show it."""
    Incident.objects.filter(pk=run.incident_id).update(version=F("version") + 1)
    facts = {
        "checklist": run.pk,
        "sop": run.revision.sop.slug,
        "title": run.revision.title,
        "revision": run.revision.number,
    }
    journal.note(run.incident, kind, by=by, at=at, text=text, **facts, **data)
