"""A worker may die at any moment, and any task may arrive twice."""

from datetime import timedelta

import pytest

from diagnostics import queries
from diagnostics.actions import judging, probing, ringing, runs
from diagnostics.models import DiagnosticRun, ProbeResult
from diagnostics.probes import table
from incidents.domain.actors import SICKBAY
from incidents.models import Event, Node, Rack
from tests.diagnostics.conftest import QUIET, XID_79
from tests.diagnostics.worker import work

pytestmark = pytest.mark.django_db
LONG = timedelta(minutes=10)


@pytest.fixture
def run(here, now):
    return runs.start(node=here, by=SICKBAY, at=now)


def claimed(row, *, at):
    """As a worker leaves it that is killed in the middle."""
    return probing._claim(row.pk, at=at)


def test_a_probe_that_somebody_runs_is_not_run_a_second_time(run, now):
    row = run.probes.get(probe="memory")
    assert claimed(row, at=now)
    assert not probing.take_probe(row.pk, at=now)
    assert row.pk not in {waiting.pk for waiting in ringing.waiting_probes(at=now)}


def test_a_probe_of_a_dead_worker_is_rung_again_and_done(run, now):
    row = run.probes.get(probe="memory")
    claimed(row, at=now)
    assert row.pk in {waiting.pk for waiting in ringing.waiting_probes(at=now + LONG)}
    assert probing.take_probe(row.pk, at=now + LONG)
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("done", 2)


def test_a_probe_that_ends_its_worker_three_times_is_given_up_with_the_reason(run, now):
    row = run.probes.get(probe="memory")
    for attempt in range(probing.MAX_ATTEMPTS):
        claimed(row, at=now + attempt * LONG)
    assert probing.take_probe(row.pk, at=now + 4 * LONG)
    row.refresh_from_db()
    assert (row.outcome, row.reason) == ("could_not_check", probing.DIED)
    work(run, at=now + 5 * LONG)
    assert run.state == "finished"


def test_a_worker_that_comes_back_late_changes_nothing(run, now):
    row = run.probes.get(probe="memory")
    late = claimed(row, at=now)
    probing.take_probe(row.pk, at=now + LONG)
    assert not probing._finish(late, table.could_not_check("too late"), at=now + 2 * LONG)
    row.refresh_from_db()
    assert row.reason == ""


def test_a_worker_that_comes_back_late_does_not_end_the_attempt_of_another(run, now):
    row = run.probes.get(probe="memory")
    late = claimed(row, at=now)
    other = claimed(row, at=now + LONG)
    assert not probing._finish(late, table.could_not_check("too late"), at=now + LONG)
    row.refresh_from_db()
    assert (row.state, row.reason) == ("running", "")
    assert probing._finish(other, table.could_not_check("in time"), at=now + LONG)


def test_two_judges_at_once_make_one_result(run, recording, now, monkeypatch):
    recording.say_kernel(QUIET + XID_79)
    for row in run.probes.all():
        probing.take_probe(row.pk, at=now)
    slow = judging._claim(run.pk, at=now)
    assert not judging.judge(run.pk, at=now)
    assert judging.judge(run.pk, at=now + LONG)
    assert not judging._record(slow, judging.judged(slow), at=now + LONG)
    assert run.findings.filter(root=True).count() == 1
    assert Event.objects.filter(kind="run_finished").count() == 1


def test_a_judge_that_comes_back_late_does_not_end_the_attempt_of_another(run, now):
    for row in run.probes.all():
        probing.take_probe(row.pk, at=now)
    slow, other = judging._claim(run.pk, at=now), judging._claim(run.pk, at=now + LONG)
    assert not judging._record(slow, judging.judged(slow), at=now + LONG)
    run.refresh_from_db()
    assert (run.state, Event.objects.filter(kind="run_finished").exists()) == ("judging", False)
    assert judging._record(other, judging.judged(other), at=now + LONG)


def test_evidence_that_ends_its_judge_three_times_is_given_up(run, now):
    for row in run.probes.all():
        probing.take_probe(row.pk, at=now)
    for attempt in range(judging.MAX_ATTEMPTS):
        judging._claim(run.pk, at=now + attempt * LONG)
    assert judging.judge(run.pk, at=now + 4 * LONG)
    run.refresh_from_db()
    assert run.state == "finished"
    assert judging.DIED in run.probes.get(probe="kernel_log").reason


def test_evidence_whose_file_is_gone_is_could_not_check(run, now, evidence_folder):
    for row in run.probes.all():
        probing.take_probe(row.pk, at=now)
    for file in evidence_folder.rglob("*.zst"):
        file.unlink()
    judging.judge(run.pk, at=now)
    assert set(run.probes.values_list("outcome", flat=True)) == {"could_not_check", "not_supported"}


def test_a_line_that_no_database_takes_is_kept_as_far_as_it_goes(run, recording, now):
    recording.say_kernel(XID_79.replace("has fallen", "\0has " + "x" * 100_000 + " fallen"))
    work(run, at=now)
    for finding in run.findings.all():
        assert "\0" not in finding.line
        assert len(finding.line) <= judging.LONGEST_LINE
    assert run.findings.exists()


def test_nothing_is_judged_while_a_probe_is_missing(run, now):
    probing.take_probe(run.probes.get(probe="memory").pk, at=now)
    assert not judging.judge(run.pk, at=now)
    assert run not in ringing.runs_to_judge(at=now)


def test_a_cancelled_run_is_left_alone(run, asha, now):
    runs.cancel(run, by=asha, at=now)
    assert not probing.take_probe(run.probes.first().pk, at=now)
    assert not ringing.waiting_probes(at=now)
    assert not ringing.runs_to_judge(at=now)


def test_what_was_rung_lately_is_not_rung_again(run, now):
    ProbeResult.objects.update(rung_at=now)
    assert not ringing.waiting_probes(at=now + ringing.RING_AGAIN / 2)
    assert len(ringing.waiting_probes(at=now + ringing.RING_AGAIN)) == 4


def test_a_broker_that_is_away_is_said_once_and_costs_no_work(run, now, caplog):
    for seconds in range(2):
        assert ringing.ring_waiting(at=now + timedelta(seconds=10 * seconds)) == 0
    assert len([record for record in caplog.records if "queue cannot be reached" in record.message]) == 1
    assert work(run, at=now + LONG).state == "finished"


def test_a_storm_of_automatic_runs_waits_for_its_turn_and_one_by_hand_does_not(here, asha, now, monkeypatch):
    monkeypatch.setattr(queries, "RUNS_PER_RACK", 2)
    rack = Rack.objects.create(cluster=here.cluster, name="r03")
    nodes = [
        Node.objects.create(hostname=f"n{n}", cluster=here.cluster, rack=rack, is_local=True, created_at=now)
        for n in range(4)
    ]
    started = [runs.start(node=node, purpose="triage", by=SICKBAY, at=now) for node in nodes]
    by_hand = runs.start(node=nodes[3], by=asha, at=now)
    taken = {row.run_id for row in ringing.waiting_probes(at=now)}
    assert taken == {started[0].pk, started[1].pk, by_hand.pk}
    work(started[0], at=now)
    work(started[1], at=now)
    assert {row.run_id for row in ringing.waiting_probes(at=now)} >= {started[2].pk, started[3].pk}
    assert DiagnosticRun.objects.filter(state="finished").count() == 2
