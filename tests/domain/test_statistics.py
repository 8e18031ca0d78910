from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.domain.statistics import IncidentFact, month, quantile, recurrence

START, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def fact(number, *, day=10, hours=1.0, acknowledged=0.1, **changes):
    declared = changes.get("declared_at", START + timedelta(days=day - 1))
    values = {
        "severity": "SEV2",
        "fault": "gpu.off_bus",
        "family": "gpu.presence",
        "subject": "node:1",
        "state": "closed",
        "disposition": "",
        "declared_at": declared,
        "acknowledged_at": None if acknowledged is None else declared + acknowledged * HOUR,
        "restored_at": None if hours is None else declared + hours * HOUR,
        "impact_started_at": declared,
    }
    return IncidentFact(number, **{**values, **changes})


def figures(*facts, as_of=END):
    return month(facts, start=START, end=END, as_of=as_of)


def came_back(*facts, as_of=END + timedelta(days=60)):
    return recurrence(facts, start=START, end=END, as_of=as_of)


@pytest.mark.parametrize(("q", "hours"), [(0.0, 1), (0.5, 2.5), (0.9, 3.7), (1.0, 4)])
def test_quantiles_interpolate_as_type_7_does(q, hours):
    assert quantile([4 * HOUR, HOUR, 3 * HOUR, 2 * HOUR], q) == hours * HOUR


@given(st.lists(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9)), min_size=1), st.floats(0, 1))
def test_a_quantile_lies_between_the_least_and_the_greatest(values, q):
    assert min(values) - timedelta(microseconds=1) <= quantile(values, q) <= max(values) + timedelta(microseconds=1)


def test_an_empty_month_has_no_times_rather_than_zero():
    empty = figures()
    assert (empty.restore.median, empty.recurrence.share, empty.all.count) == (None, None, 0)


def test_what_is_not_restored_yet_counts_as_running_not_as_zero():
    found = figures(fact(1, hours=2), fact(2, hours=None, subject="node:2", state="repairing"))
    assert (found.restore.median, found.restore.running) == (2 * HOUR, (2,))


def test_an_end_after_the_moment_of_the_report_is_not_known_yet():
    found = figures(fact(1, hours=2), as_of=START + timedelta(days=9, hours=1))
    assert found.restore.running == (1,)


def test_the_month_begins_at_its_first_moment_and_ends_before_the_next():
    inside = fact(1, declared_at=START)
    found = figures(inside, fact(2, declared_at=END), fact(3, declared_at=START - timedelta(microseconds=1)))
    assert found.all.ids == (1,)


def test_merged_incidents_and_harmless_dispositions_are_no_failures_but_no_trouble_found_is():
    rows = [
        fact(1),
        fact(2, state="merged"),
        fact(3, disposition="not_a_fault"),
        fact(4, disposition="no_trouble_found"),
    ]
    found = figures(*rows)
    assert (found.failures.ids, found.all.ids) == ((1, 4), (1, 3, 4))


def test_each_number_of_a_table_knows_its_rows():
    found = figures(fact(1), fact(2, fault="os.oom_kill", severity="SEV3"), fact(3))
    assert [(row.label, row.ids) for row in found.by_fault] == [("gpu.off_bus", (1, 3)), ("os.oom_kill", (2,))]
    assert [(row.label, row.count) for row in found.by_severity] == [("SEV2", 2), ("SEV3", 1)]


def test_what_was_closed_without_a_restoration_does_not_run_for_ever():
    assert figures(fact(1, hours=None, disposition="no_trouble_found")).restore.running == ()
    assert figures(fact(1, hours=None, state="repairing")).restore.running == (1,)


def test_times_to_restore_begin_with_the_impact_and_times_to_acknowledge_with_the_declaration():
    late = fact(1, hours=2, acknowledged=1)
    found = figures(fact(1, hours=2, acknowledged=1, impact_started_at=late.declared_at - HOUR))
    assert (found.restore.median, found.acknowledge.median) == (3 * HOUR, HOUR)


def test_the_acknowledgement_of_what_was_no_fault_is_counted_too():
    assert figures(fact(1, disposition="expected", hours=None)).acknowledge.ids == (1,)


@pytest.mark.parametrize(("count", "given"), [(4, False), (5, True)])
def test_a_90th_percentile_needs_five_values(count, given):
    found = figures(*(fact(number, hours=number, subject=f"node:{number}") for number in range(1, count + 1)))
    assert (found.restore.p90 is not None) == given


FIRST = fact(1, day=5, hours=24)
RESTORED = FIRST.restored_at


def again(**changes):
    return fact(2, declared_at=RESTORED + timedelta(days=10), restored_at=None, **changes)


def test_the_same_family_on_the_same_subject_within_30_days_of_restoration_is_a_recurrence():
    found = came_back(FIRST, again())
    assert (found.recurred, found.share) == ((1,), 1.0)


@pytest.mark.parametrize(
    "other",
    [
        again(subject="node:2"),
        again(family="gpu.memory"),
        again(state="merged"),
        again(disposition="not_a_fault"),
        fact(2, declared_at=RESTORED - HOUR),
        fact(2, declared_at=RESTORED + timedelta(days=30, seconds=1)),
    ],
)
def test_another_subject_or_family_no_fault_and_other_times_are_no_recurrence(other):
    assert came_back(FIRST, other).recurred == ()


def test_the_last_day_of_the_window_counts():
    assert came_back(FIRST, fact(2, declared_at=RESTORED + timedelta(days=30))).recurred == (1,)


def test_what_came_back_after_a_verdict_of_no_trouble_found_is_the_recurrence_of_the_one_before():
    no_trouble = again(disposition="no_trouble_found")
    assert came_back(FIRST, no_trouble).recurred == (1,)


def test_the_share_waits_for_those_whose_30_days_are_not_over():
    found = came_back(FIRST, fact(3, day=25, subject="node:3"), as_of=RESTORED + timedelta(days=30))
    assert (found.eligible, found.pending, found.share) == ((1,), (3,), 0.0)


def test_what_was_reopened_has_a_line_of_its_own():
    found = came_back(fact(1, was_reopened=True))
    assert (found.reopened, found.recurred) == ((1,), ())


def test_what_was_restored_in_the_month_belongs_to_its_recurrence_whenever_it_began():
    old = fact(1, declared_at=START - timedelta(days=9), restored_at=START)
    assert figures(old).recurrence.restored == (1,)
    assert figures(old).all.ids == ()
