import pytest

from incidents import extension_points
from incidents import queries as incident_queries
from incidents.actions import causes, lifecycle
from incidents.lib.errors import Invalid, NotAllowed, Refused
from incidents.models import Event
from knowledge import queries
from knowledge.actions import checklists, links, revisions
from knowledge.models import ChecklistRun, StepResult
from knowledge.queries.incidents import values_of
from tests.incidents import factories
from tests.knowledge.conftest import found
from tests.knowledge.samples import changed


@pytest.fixture
def run(published, incident, asha, now):
    return checklists.start(incident, published, by=asha, at=now)


def kinds(incident):
    return [entry.kind for entry in incident.timeline.order_by("id")]


def answer(incident):
    return extension_points.closure_checks["checklist"](incident)


def test_start_pins_the_revision_and_tells_the_timeline(run, published, incident, asha):
    assert (run.revision, run.content_sha256, run.started_by) == (published, published.content_sha256, asha)
    entry = incident.timeline.get(kind="checklist_started")
    assert entry.data["revision"] == 1
    assert entry.actor == asha


def test_one_sop_has_one_open_checklist_in_an_incident(run, published, incident, ben, now):
    assert checklists.start(incident, published, by=ben, at=now) == run
    assert kinds(incident).count("checklist_started") == 1


def test_only_what_is_published_is_started(draft, incident, asha, vera, now):
    with pytest.raises(Refused, match="is not published"):
        checklists.start(incident, draft, by=asha, at=now)
    with pytest.raises(NotAllowed):
        checklists.start(incident, draft, by=vera, at=now)


def test_a_tick_is_kept_with_who_and_when(run, incident, asha, now):
    before = incident.version
    result = checklists.tick(run, "look", state="done", note="all quiet", by=asha, at=now)
    assert (result.outcome, result.by_name, result.at, result.note) == ("met", "Asha", now, "all quiet")
    entry = incident.timeline.get(kind="step_done")
    assert (entry.data["step"], entry.data["step_title"], entry.data["number"]) == ("look", "Look at the fans", 1)
    assert entry.text == "all quiet"
    incident.refresh_from_db()
    assert incident.version > before, "live pages poll by the version"


def test_a_double_click_is_one_tick(run, incident, asha, ben, now):
    first = checklists.tick(run, "look", state="done", by=asha, at=now, expected_latest=0)
    assert checklists.tick(run, "look", state="done", by=asha, at=now, expected_latest=0) == first
    assert checklists.tick(run, "look", state="done", by=ben, at=now, expected_latest=0) == first
    assert kinds(incident).count("step_done") == 1


def test_a_tick_upon_an_old_view_is_refused(run, asha, ben, now):
    checklists.tick(run, "look", state="done", by=asha, at=now)
    with pytest.raises(Refused, match="Asha marked this step as done meanwhile"):
        checklists.tick(run, "look", state="failed", note="no", by=ben, at=now, expected_latest=0)


def test_a_later_note_to_the_same_tick_is_not_lost(run, asha, now):
    checklists.tick(run, "look", state="done", by=asha, at=now)
    checklists.tick(run, "look", state="done", note="seen twice", by=asha, at=now)
    assert list(StepResult.objects.order_by("id").values_list("note", flat=True)) == ["", "seen twice"]


@pytest.mark.parametrize(
    ("key", "given", "words"),
    [
        ("look", {"state": "skipped"}, "Say why the step was skipped"),
        ("look", {"state": "failed", "note": "  "}, "Say what went wrong"),
        ("look", {"state": "perhaps"}, "done, failed, skipped or undone"),
        ("nowhere", {"state": "done"}, "has no step 'nowhere'"),
        ("enough", {"state": "done"}, "Choose one of the answers: suffice, too_few"),
        ("enough", {"state": "done", "answer": "maybe"}, "Choose one of the answers"),
        ("enough", {"state": "skipped", "note": "x"}, "A question cannot be skipped"),
    ],
)
def test_a_tick_that_cannot_be_used_says_what_to_do(run, asha, now, key, given, words):
    with pytest.raises(Invalid, match=words):
        checklists.tick(run, key, by=asha, at=now, **given)


def test_viewers_do_not_tick(run, vera, now):
    with pytest.raises(NotAllowed):
        checklists.tick(run, "look", state="done", by=vera, at=now)


def test_the_branch_not_taken_need_not_be_ticked(run, incident, asha, now):
    checklists.tick(run, "look", state="done", by=asha, at=now)
    checklists.tick(run, "enough", state="done", answer="suffice", by=asha, at=now)
    assert (run.state, run.end, run.finished_at) == ("finished", "verify", now)
    assert kinds(incident)[-1] == "checklist_finished"
    assert Event.objects.get(kind="checklist_finished").payload == {
        "checklist": run.pk,
        "incident": incident.pk,
        "end": "verify",
    }
    (checklist,) = queries.checklists_of(incident)
    assert [(step.step.key, step.place) for step in checklist.steps] == [
        ("look", "gone"),
        ("enough", "gone"),
        ("swap", "aside"),
        ("restore", "aside"),
        ("listen", "aside"),
    ]
    assert (checklist.done, checklist.total, checklist.current) == (2, 2, None)


def test_a_step_that_is_come_to_again_wants_a_new_tick(run, asha, now):
    for key, state in (("look", "failed"), ("swap", "done"), ("listen", "failed")):
        checklists.tick(run, key, state=state, note="as seen", by=asha, at=now)
    assert queries.route_of(run).current == "swap"
    checklists.tick(run, "swap", state="done", note="as seen", by=asha, at=now)
    assert run.results.filter(step_key="swap").count() == 2
    checklists.tick(run, "listen", state="done", by=asha, at=now)
    assert (run.state, run.end) == ("finished", "close")


def test_a_tick_taken_back_opens_the_checklist_again(run, incident, asha, now):
    checklists.tick(run, "look", state="done", by=asha, at=now)
    checklists.tick(run, "enough", state="done", answer="suffice", by=asha, at=now)
    with pytest.raises(Refused, match="This checklist is finished"):
        checklists.tick(run, "swap", state="done", by=asha, at=now)
    checklists.tick(run, "enough", state="undone", by=asha, at=now)
    assert (run.state, run.end, run.finished_at) == ("open", "", None)
    assert queries.checklists_of(incident)[0].steps[1].state == "todo"
    with pytest.raises(Refused, match="nothing to take back"):
        checklists.tick(run, "swap", state="undone", by=asha, at=now)


def test_a_newer_revision_does_not_move_an_open_checklist(run, published, incident, lin, ben, asha, now):
    second = revisions.save(published.sop, text=changed("A fan", "One fan"), language="en", base=1, by=lin, at=now)
    revisions.publish(second, by=ben, at=now)
    run.refresh_from_db()
    assert run.revision == published
    assert queries.newer_revision(run) == second
    assert queries.checklists_of(incident)[0].newer == 2
    checklists.tick(run, "look", state="done", by=asha, at=now)


def test_action_steps_of_a_withdrawn_revision_stop(run, published, incident, ben, asha, now):
    revisions.withdraw(published, reason="It burns", by=ben, at=now)
    assert queries.checklists_of(incident)[0].withdrawn == "It burns"
    with pytest.raises(Refused, match="do not carry out its action steps"):
        checklists.tick(run, "swap", state="done", by=asha, at=now)
    checklists.tick(run, "look", state="done", by=asha, at=now)


def test_checklists_of_a_closed_incident_are_fixed(run, incident, asha, now):
    lifecycle.close(incident, disposition="expected", note="maintenance", by=asha, at=now)
    with pytest.raises(Refused, match="can no longer be changed"):
        checklists.tick(run, "look", state="done", by=asha, at=now)


def test_a_merged_incident_hands_its_checklist_on(run, incident, published, asha, now):
    other = factories.incident("host.board.fault", at=now)
    third = factories.incident("host.psu.failed", at=now)
    causes.merge(incident, into=other, reason="one fan", by=asha, at=now)
    run.refresh_from_db()
    assert (run.incident, run.state) == (other, "open")
    checklists.start(third, published, by=asha, at=now)
    causes.merge(third, into=other, reason="one fan", by=asha, at=now)
    assert sorted(other.checklists.values_list("state", flat=True)) == ["abandoned", "open"]
    assert kinds(other).count("checklist_moved") == 2


def test_closing_asks_for_the_checklist_or_a_reason(published, incident, asha, now):
    assert answer(incident).met is False
    assert "Work through the checklist of 'Check a fan'" in answer(incident).detail
    run = checklists.start(incident, published, by=asha, at=now)
    assert answer(incident).met is False
    checklists.tick(run, "look", state="done", by=asha, at=now)
    checklists.tick(run, "enough", state="done", answer="suffice", by=asha, at=now)
    assert answer(incident).met is True
    assert any(one.title == answer(incident).title for one in incident_queries.closure_answers(incident))


def test_an_explained_skip_satisfies_the_closing(published, incident, asha, now):
    with pytest.raises(Invalid):
        checklists.explain_skip(incident, reason=" ", by=asha, at=now)
    checklists.explain_skip(incident, reason="The vendor was on site", by=asha, at=now)
    checklists.explain_skip(incident, reason="The vendor was on site", by=asha, at=now)
    run = ChecklistRun.objects.get()
    assert (run.state, run.skip_reason, run.revision) == ("abandoned", "The vendor was on site", published)
    assert answer(incident).met
    assert "The vendor was on site" in answer(incident).detail


def test_an_open_checklist_is_left_with_a_reason(run, incident, asha, now):
    checklists.explain_skip(incident, reason="Another cause", by=asha, at=now)
    run.refresh_from_db()
    assert (run.state, run.skip_reason) == ("abandoned", "Another cause")
    assert kinds(incident)[-1] == "checklist_abandoned"


def test_nothing_is_asked_where_no_sop_is_published(draft, incident, asha, now):
    assert answer(incident) is None
    with pytest.raises(Refused, match="nothing to explain"):
        checklists.explain_skip(incident, reason="none", by=asha, at=now)


def test_steps_show_the_node_and_the_part(run, incident, asha, now):
    finding = found(incident, at=now, component="0000:91:00")
    links.suggest_for_run(finding.run_id, at=now)
    values = values_of(incident)
    assert values["gpu.pci"] == "0000:91:00"
    assert (values["node.name"], values["incident.ref"]) == ("gpu-r03-n05", incident.reference)


def test_checklists_cost_the_same_for_many_as_for_one(
    run, incident, published, asha, now, django_assert_num_queries, django_assert_max_num_queries
):
    with django_assert_max_num_queries(9) as few:
        queries.checklists_of(incident)
    for _ in range(4):
        checklists.explain_skip(incident, reason="again", by=asha, at=now)
        checklists.start(incident, published, by=asha, at=now)
    with django_assert_num_queries(len(few)):
        assert len(queries.checklists_of(incident)) == 5
