from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection

from incidents import queries
from incidents.actions import causes, clocks, lifecycle, postmortems, tiers
from incidents.domain.actors import SICKBAY
from incidents.lib.errors import Invalid, NotAllowed, Refused
from incidents.models import AuditEntry, Event, HistoryIsFixed, Incident, TimelineEntry
from tests.incidents import factories as make

MINUTE = timedelta(minutes=1)


@pytest.fixture
def incident(db, now):
    return make.incident("gpu.off_bus", at=now)


def to_verifying(incident, *, by, at):
    lifecycle.acknowledge(incident, by=by, at=at + MINUTE)
    lifecycle.mitigate(incident, by=by, at=at + 2 * MINUTE, text="drained")
    lifecycle.start_repair(incident, by=by, at=at + 3 * MINUTE)
    lifecycle.start_verifying(incident, by=by, at=at + 4 * MINUTE)


def to_restored(incident, *, by, at):
    to_verifying(incident, by=by, at=at)
    lifecycle.record_verification(incident, kind="probe", passed=True, reason="clean", by=SICKBAY, at=at + 5 * MINUTE)
    lifecycle.restore(incident, by=by, at=at + 6 * MINUTE)


def test_an_incident_opens_at_the_tier_of_its_fault_with_its_story_and_its_event(incident, now):
    assert (incident.severity, incident.state, incident.subject) == ("SEV2", "open", "gpu-r03-n05")
    assert [entry.kind for entry in incident.timeline.all()] == ["opened"]
    assert Event.objects.get().payload == {"incident": incident.pk}


def test_the_same_family_on_the_same_node_is_the_same_incident(incident, now):
    subject = lifecycle.Subject(node=incident.node)
    again, is_new = lifecycle.open_incident(subject, "gpu.lost", by=SICKBAY, at=now)
    assert (again.pk, is_new) == (incident.pk, False)


def test_a_third_node_with_the_same_fault_makes_it_sev1(now, db):
    rows = [make.incident(on=make.node(f"n{number}", at=now), at=now) for number in range(3)]
    assert [row.severity for row in rows] == ["SEV2", "SEV2", "SEV1"]


def test_acknowledging_twice_is_one_acknowledgement_and_the_first_owns_it(incident, asha, ben, now):
    lifecycle.acknowledge(incident, by=asha, at=now + MINUTE)
    lifecycle.acknowledge(incident, by=ben, at=now + 2 * MINUTE)
    assert (incident.state, incident.assignee, incident.acknowledged_at) == ("acknowledged", asha, now + MINUTE)
    assert incident.timeline.filter(kind="acknowledge").count() == 1


def test_taking_an_open_incident_acknowledges_it(incident, asha, now):
    lifecycle.assign(incident, to=asha, by=asha, at=now + MINUTE)
    assert (incident.state, incident.assignee) == ("acknowledged", asha)


VERBS = {
    "acknowledge": {},
    "assign": {"to": None},
    "add_note": {"text": "x"},
    "mitigate": {},
    "start_repair": {},
    "wait_for": {"reason": "part"},
    "resume": {},
    "start_verifying": {},
    "vouch": {"note": "x"},
    "restore": {},
    "close": {},
    "reopen": {},
    "record_verification": {"kind": "probe", "passed": True, "reason": "x"},
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_refused_to_who_may_only_look_and_to_strangers(verb, incident, vera, chen, now):
    for stranger in (vera, chen):
        with pytest.raises(NotAllowed):
            getattr(lifecycle, verb)(incident, by=stranger, at=now, **VERBS[verb])
    assert incident.timeline.count() == 1


OTHER_VERBS = (
    (causes.set_cause, {"fault_code": "gpu.lost"}),
    (tiers.set_severity, {"tier": "SEV1", "reason": "x"}),
    (clocks.edit_clock, {"clock": "detected_at", "to": None, "reason": "x"}),
)


@pytest.mark.parametrize(("verb", "words"), OTHER_VERBS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_an_incident_is_called_and_counted_as_is_no_matter_for_lookers_and_strangers(
    verb, words, incident, vera, chen, now
):
    for stranger in (vera, chen):
        with pytest.raises(NotAllowed):
            verb(incident, by=stranger, at=now, **words)


def test_merging_is_refused_to_who_may_only_look(incident, vera, now):
    other = make.incident(on=make.node("other", at=now), at=now)
    with pytest.raises(NotAllowed):
        causes.merge(incident, into=other, reason="x", by=vera, at=now)


def test_the_whole_way_from_open_to_closed_leaves_every_clock_and_every_step(incident, asha, now):
    to_restored(incident, by=asha, at=now)
    causes.set_cause(incident, fault_code="gpu.off_bus", by=asha, at=now + 7 * MINUTE)
    texts = dict.fromkeys(postmortems.FIELDS, "written")
    postmortems.save(incident, by=asha, at=now + 8 * MINUTE, **texts)
    postmortems.publish(incident, by=asha, at=now + 8 * MINUTE)
    lifecycle.close(incident, by=asha, at=now + 9 * MINUTE)
    assert incident.state == "closed"
    assert (incident.restored_at, incident.closed_at) == (now + 6 * MINUTE, now + 9 * MINUTE)
    kinds = [entry.kind for entry in incident.timeline.all()]
    assert kinds[:7] == ["opened", "acknowledge", "mitigate", "start_repair", "start_verifying", "verified", "restore"]


def test_an_untreated_incident_cannot_be_restored_and_the_refusal_says_what_is_missing(incident, asha, now):
    to_verifying(incident, by=asha, at=now)
    with pytest.raises(Refused) as refusal:
        lifecycle.restore(incident, by=asha, at=now + 5 * MINUTE)
    assert "diagnostic run newer than the repair" in refusal.value.missing[0]
    assert incident.state == "verifying"


def test_only_the_newest_answer_counts_and_none_from_before_verifying(incident, asha, now):
    to_verifying(incident, by=asha, at=now)
    for minutes, passed in ((6, True), (5, False)):
        at = now + minutes * MINUTE
        incident.verifications.create(kind="probe", passed=passed, at=at, reason="x")
    assert queries.missing_for_restore(incident) == ()
    incident.verifying_at = now + 10 * MINUTE
    assert queries.missing_for_restore(incident) != ()


def test_a_failed_verification_sends_it_back_to_repair(incident, asha, now):
    to_verifying(incident, by=asha, at=now)
    lifecycle.record_verification(
        incident, kind="probe", passed=False, reason="still lost", by=SICKBAY, at=now + 5 * MINUTE
    )
    assert incident.state == "repairing"


def test_a_verification_of_an_earlier_try_does_not_count(incident, asha, now):
    to_verifying(incident, by=asha, at=now)
    lifecycle.record_verification(incident, kind="probe", passed=True, reason="clean", by=SICKBAY, at=now + 5 * MINUTE)
    lifecycle.record_verification(incident, kind="probe", passed=False, reason="no", by=SICKBAY, at=now + 6 * MINUTE)
    lifecycle.start_verifying(incident, by=asha, at=now + 7 * MINUTE)
    with pytest.raises(Refused):
        lifecycle.restore(incident, by=asha, at=now + 8 * MINUTE)


def test_a_fault_that_asks_for_a_probe_cannot_be_vouched_for(incident, asha, now):
    to_verifying(incident, by=asha, at=now)
    with pytest.raises(Refused, match="diagnostic run"):
        lifecycle.vouch(incident, note="looks fine", by=asha, at=now + 5 * MINUTE)


def test_a_fault_that_asks_for_a_person_needs_a_note_of_a_person(asha, now, db):
    incident = make.incident("bmc.insecure", at=now)
    to_verifying(incident, by=asha, at=now)
    with pytest.raises(Invalid):
        lifecycle.vouch(incident, note=" ", by=asha, at=now + 5 * MINUTE)
    lifecycle.vouch(incident, note="account disabled, tried it", by=asha, at=now + 5 * MINUTE)
    lifecycle.restore(incident, by=asha, at=now + 6 * MINUTE)
    assert incident.state == "restored"


def test_closing_names_everything_that_is_missing(incident, asha, now):
    to_restored(incident, by=asha, at=now)
    with pytest.raises(Refused) as refusal:
        lifecycle.close(incident, by=asha, at=now + 7 * MINUTE)
    assert "No cause is confirmed" in refusal.value.missing[0]
    assert "published post-mortem" in refusal.value.missing[1]


def test_an_open_incident_closes_only_with_a_disposition_and_a_reason(incident, asha, now):
    with pytest.raises(Refused):
        lifecycle.close(incident, by=asha, at=now)
    with pytest.raises(Invalid):
        lifecycle.close(incident, by=asha, at=now, disposition="expected")
    lifecycle.close(incident, by=asha, at=now, disposition="expected", note="planned swap")
    assert (incident.state, incident.disposition) == ("closed", "expected")


def test_reopening_is_possible_for_72_hours(incident, asha, now):
    lifecycle.close(incident, by=asha, at=now, disposition="expected", note="x")
    with pytest.raises(Refused, match="72 hours"):
        lifecycle.reopen(incident, by=asha, at=now + timedelta(hours=73))
    lifecycle.reopen(incident, by=asha, at=now + timedelta(hours=71))
    assert (incident.state, incident.closed_at, incident.disposition) == ("open", None, "")


def test_waiting_has_one_reason_at_a_time_and_its_own_time(incident, asha, now):
    lifecycle.wait_for(incident, reason="part", by=asha, at=now + MINUTE)
    lifecycle.wait_for(incident, reason="vendor", by=asha, at=now + 2 * MINUTE)
    lifecycle.resume(incident, by=asha, at=now + 5 * MINUTE)
    spans = [(wait.reason, wait.until - wait.since) for wait in incident.waits.order_by("since")]
    assert spans == [("part", MINUTE), ("vendor", 3 * MINUTE)]


def test_a_confirmed_cause_re_keys_the_incident(asha, now, db):
    incident = make.incident("node.unclassified", at=now)
    causes.set_cause(incident, fault_code="gpu.off_bus", by=asha, at=now + MINUTE)
    assert (incident.fault, incident.family, incident.severity) == ("gpu.off_bus", "gpu.presence", "SEV2")


@pytest.mark.parametrize("confirmed", ["older", "younger"])
def test_two_incidents_with_one_cause_become_one_and_say_why(confirmed, asha, now, db):
    node = make.node(at=now)
    first, second = (
        ("node.unclassified", "gpu.off_bus") if confirmed == "older" else ("gpu.off_bus", "node.unclassified")
    )
    older = make.incident(first, on=node, at=now)
    younger = make.incident(second, on=node, at=now + MINUTE)
    unclear = older if confirmed == "older" else younger
    causes.set_cause(unclear, fault_code="gpu.off_bus", by=asha, at=now + 2 * MINUTE)
    older.refresh_from_db()
    younger.refresh_from_db()
    assert (older.state, older.family) == ("open", "gpu.presence")
    assert (younger.state, younger.merged_into) == ("merged", older)
    assert "gpu.off_bus" in older.timeline.get(kind="absorbed").text
    assert older.cause == "gpu.off_bus"


def test_a_cause_lifts_the_tier_only_as_far_as_the_table_gives_and_never_against_a_person(asha, now, db):
    node = make.node(at=now)
    node.cluster.environment = "test"
    node.cluster.save()
    capped = make.incident("node.unclassified", on=node, at=now)
    causes.set_cause(capped, fault_code="gpu.off_bus", by=asha, at=now)
    assert capped.severity == "SEV3"
    tiers.set_severity(capped, tier="SEV4", reason="lab", by=asha, at=now)
    causes.set_cause(capped, fault_code="os.kernel_panic", by=asha, at=now)
    assert capped.severity == "SEV4"


def test_a_merge_takes_over_what_fires_and_what_was_taken_in_before(asha, now, db):
    node = make.node(at=now)
    a, b, c = (make.incident(fault, on=node, at=now) for fault in ("gpu.off_bus", "gpu.gsp", "host.pcie.fatal"))
    early = now - timedelta(hours=2)
    type(b).objects.filter(pk=b.pk).update(impact_started_at=early)
    for one, firing in ((b, True), (c, False)):
        one.parts.create(kind="gpu", locator="GPU 5", fault="gpu.off_bus", fired_at=now, firing=firing)
    causes.merge(a, into=b, reason="one", by=asha, at=now)
    causes.merge(b, into=c, reason="one", by=asha, at=now)
    assert {one.merged_into_id for one in Incident.objects.filter(state="merged")} == {c.pk}
    assert c.parts.get().firing
    c.refresh_from_db()
    assert c.impact_started_at == early


def test_a_reopened_incident_starts_its_treatment_anew(incident, asha, now):
    to_restored(incident, by=asha, at=now)
    lifecycle.reopen(incident, by=asha, at=now + timedelta(hours=1))
    assert (incident.restored_at, incident.mitigated_at, incident.repair_started_at, incident.verifying_at) == (
        None,
    ) * 4
    assert incident.acknowledged_at is not None


def test_a_clock_cannot_be_moved_before_what_comes_first(incident, asha, now):
    lifecycle.acknowledge(incident, by=asha, at=now + MINUTE)
    early = now - timedelta(hours=1)
    clocks.edit_clock(incident, clock="impact_started_at", to=early, reason="x", by=asha, at=now + 2 * MINUTE)
    with pytest.raises(Invalid):
        clocks.edit_clock(incident, clock="acknowledged_at", to=now - MINUTE, reason="x", by=asha, at=now + 2 * MINUTE)


def test_a_corrected_clock_keeps_its_old_value_with_who_and_why(incident, asha, now):
    earlier = now - timedelta(minutes=20)
    clocks.edit_clock(incident, clock="impact_started_at", to=earlier, reason="seen in the job log", by=asha, at=now)
    assert incident.impact_started_at == earlier
    entry = AuditEntry.objects.get(verb="incident.edit_clock")
    assert (entry.before, entry.after, entry.actor) == (now.isoformat(), earlier.isoformat(), asha)
    with pytest.raises(Invalid):
        clocks.edit_clock(
            incident, clock="impact_started_at", to=now + MINUTE, reason="x", by=asha, at=now + 2 * MINUTE
        )


def test_history_can_be_added_to_but_not_changed(incident):
    entry = incident.timeline.get()
    entry.text = "it was not like this"
    for attempt in (entry.save, entry.delete, TimelineEntry.objects.all().delete):
        with pytest.raises(HistoryIsFixed):
            attempt()
    with pytest.raises(HistoryIsFixed):
        TimelineEntry.objects.update(text="x")


@pytest.mark.django_db(transaction=True)
def test_ten_openers_at_once_get_one_incident(now):
    node = make.node(at=now)
    barrier, seen = Barrier(10), []

    def open_it():
        barrier.wait()
        try:
            seen.append(lifecycle.open_incident(lifecycle.Subject(node=node), "gpu.off_bus", by=SICKBAY, at=now))
        finally:
            connection.close()

    threads = [Thread(target=open_it) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Incident.objects.count() == 1
    assert [is_new for _one, is_new in seen].count(True) == 1
    assert len(seen) == 10
