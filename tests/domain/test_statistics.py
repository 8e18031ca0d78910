from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.domain.statistics import IncidentFact, month, quantile, recurrences

START, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def fact(number, *, day=10, hours=1.0, acknowledged=0.1, **changes):
    declared = START + timedelta(days=day - 1)
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


def figures(*facts, earlier=(), as_of=END):
    return month(facts, earlier, start=START, end=END, as_of=as_of)


@pytest.mark.parametrize(("q", "hours"), [(0.0, 1), (0.5, 2.5), (0.9, 3.7), (1.0, 4)])
def test_quantiles_interpolate_as_type_7_does(q, hours):
    assert quantile([4 * HOUR, HOUR, 3 * HOUR, 2 * HOUR], q) == hours * HOUR


@given(st.lists(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9)), min_size=1), st.floats(0, 1))
def test_a_quantile_lies_between_the_least_and_the_greatest(values, q):
    assert min(values) - timedelta(microseconds=1) <= quantile(values, q) <= max(values) + timedelta(microseconds=1)


def test_an_empty_month_has_no_times_rather_than_zero():
    empty = figures()
    assert (empty.restore.median, empty.recurrence_share, empty.all.count) == (None, None, 0)


def test_what_is_not_restored_yet_counts_as_running_not_as_zero():
    found = figures(fact(1, hours=2), fact(2, hours=None, subject="node:2"))
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


def test_the_same_family_on_the_same_subject_within_30_days_of_restoration_is_a_recurrence():
    before = fact(1, declared_at=START - timedelta(days=5), restored_at=START - timedelta(days=4))
    again = fact(2, day=20)
    assert recurrences([again], [before]) == (2,)


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "node:2"},
        {"family": "gpu.memory"},
        {"restored_at": None},
        {"declared_at": START - timedelta(days=40), "restored_at": START - timedelta(days=35)},
    ],
)
def test_another_subject_family_or_a_longer_time_is_no_recurrence(change):
    before = fact(1, **{"declared_at": START - timedelta(days=5), "restored_at": START - timedelta(days=4), **change})
    assert recurrences([fact(2, day=20)], [before]) == ()


def test_two_that_ran_at_the_same_time_do_not_make_each_other_recurrent():
    one, other = fact(1, hours=48), fact(2, hours=1, declared_at=START + timedelta(days=9, hours=1))
    assert recurrences([one, other], []) == ()
