import json
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, OperationalError
from django.urls import reverse

from incidents.actions import alerts, causes, deliveries, lifecycle, sources, tiers
from incidents.domain.actors import SICKBAY
from incidents.models import Alert, Delivery, FaultMatcher, Incident
from tests.conftest import SHARED
from tests.incidents import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(now):
    return make.source(at=now)


def test_a_body_is_kept_before_it_is_answered_and_is_then_turned_into_an_incident(client, now):
    _row, secret = sources.add("am", kind="alertmanager", by=SICKBAY, at=now)
    raw = make.body(make.gpu_alert(5, starts_at=now))
    answer = client.post(reverse("ingest", args=[secret, "alertmanager"]), raw, content_type="application/json")
    assert answer.status_code == 202
    assert bytes(Delivery.objects.get().body) == raw
    assert not Incident.objects.exists()

    deliveries.process_waiting(at=now + timedelta(days=3650))

    incident = Incident.objects.get()
    assert (incident.fault, incident.node.hostname, incident.state) == ("gpu.off_bus", "gpu-r03-n05", "open")
    assert [part.locator for part in incident.parts.all()] == ["GPU 5"]


def test_an_unknown_address_is_refused_and_nothing_is_kept(client):
    answer = client.post(reverse("ingest", args=["sbs_wrong", "alertmanager"]), b"{}", content_type="application/json")
    assert answer.status_code == 404
    assert not Delivery.objects.exists()


def test_a_database_that_cannot_store_answers_503_so_that_the_sender_repeats(client, now, monkeypatch):
    _row, secret = sources.add("am", kind="alertmanager", by=SICKBAY, at=now)

    def full(*_args, **_kwargs):
        raise DatabaseError("disk is full")

    monkeypatch.setattr(Delivery.objects, "create", full)
    answer = client.post(reverse("ingest", args=[secret, "alertmanager"]), b"{}", content_type="application/json")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


def test_too_long_a_body_is_cut_kept_and_shown_as_not_understood(client, now, settings):
    settings.INGEST_MAX_BYTES = 100
    _row, secret = sources.add("am", kind="alertmanager", by=SICKBAY, at=now)
    raw = make.body(make.gpu_alert(starts_at=now))
    answer = client.post(reverse("ingest", args=[secret, "alertmanager"]), raw, content_type="application/json")
    assert answer.status_code == 202
    deliveries.process_waiting(at=now + timedelta(days=3650))
    delivery = Delivery.objects.get()
    assert (delivery.size, delivery.is_cut, delivery.state) == (100, True, "not_understood")


@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe", b"[]", b"{}", b'{"alerts": 3}', b"[" * 100_000, b'{"alerts": [{"status": "firing"}, 3]}']
)
def test_what_cannot_be_understood_is_kept_with_the_reason(raw, source, now):
    delivery = make.deliver(raw, to=source, at=now)
    assert delivery.state == Delivery.State.NOT_UNDERSTOOD
    assert delivery.last_error
    assert bytes(delivery.body) == raw


def test_a_broken_member_does_not_take_the_others_with_it(source, now):
    delivery = make.deliver(make.body("nonsense", make.gpu_alert(1, starts_at=now)), to=source, at=now)
    assert "alerts[0]" in delivery.last_error
    assert Incident.objects.count() == 1


def test_texts_that_no_database_can_store_are_mended_not_lost(source, now):
    raw = make.body(make.gpu_alert(1, starts_at=now)).replace(b"Xid 79", b"a\\u0000b\\ud800c")
    make.deliver(raw, to=source, at=now)
    assert Alert.objects.get().summary.startswith("a\ufffdb")


def test_two_gpus_of_one_node_stay_two_parts_of_one_incident(source, now):
    make.deliver(make.body(*(make.gpu_alert(gpu, starts_at=now) for gpu in (0, 1))), to=source, at=now)
    assert [(part.locator, part.firing) for part in Incident.objects.get().parts.all()] == [
        ("GPU 0", True),
        ("GPU 1", True),
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_members_does_not_matter(order, source, now):
    make.deliver(make.body(*(make.gpu_alert(gpu, starts_at=now) for gpu in (0, 1))), to=source, at=now)
    members = [make.gpu_alert(0, status="resolved", starts_at=now), make.gpu_alert(1, starts_at=now)][::order]
    make.deliver(make.body(*members), to=source, at=now + timedelta(minutes=6))
    assert [(part.locator, part.firing) for part in Incident.objects.get().parts.all()] == [
        ("GPU 0", False),
        ("GPU 1", True),
    ]


def test_a_clear_is_not_a_repair_so_the_incident_stays_open(source, now):
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    make.deliver(make.body(make.gpu_alert(status="resolved", starts_at=now)), to=source, at=now + timedelta(minutes=6))
    incident = Incident.objects.get()
    assert incident.state == "open"
    assert not incident.parts.get().firing


def test_the_same_body_again_moves_only_what_was_seen_last(source, now):
    raw = make.body(make.gpu_alert(starts_at=now))
    for minutes in (0, 5, 10):
        make.deliver(raw, to=source, at=now + timedelta(minutes=minutes))
    alert = Alert.objects.get()
    assert (alert.seen_count, alert.last_seen_at) == (3, now + timedelta(minutes=10))
    assert Incident.objects.get().timeline.count() == 1


def test_a_clear_that_comes_before_its_firing_keeps_the_episode_cleared(source, now):
    make.deliver(make.body(make.gpu_alert(status="resolved", starts_at=now)), to=source, at=now)
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now + timedelta(minutes=1))
    assert not Incident.objects.exists()


def test_a_new_episode_of_a_restored_incident_opens_it_again_within_72_hours(source, now, asha):
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    incident = Incident.objects.get()
    lifecycle.close(incident, by=asha, at=now, disposition="no_trouble_found", note="clean twice")
    make.deliver(make.body(make.gpu_alert(status="resolved", starts_at=now)), to=source, at=now + timedelta(hours=1))
    later = now + timedelta(hours=2)
    make.deliver(make.body(make.gpu_alert(starts_at=later)), to=source, at=later)
    incident.refresh_from_db()
    assert incident.state == "open"
    assert incident.parts.get().recurrences == 1


def test_after_72_hours_it_is_a_new_incident_linked_as_a_recurrence(source, now, asha):
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    first = Incident.objects.get()
    lifecycle.close(first, by=asha, at=now, disposition="no_trouble_found", note="clean twice")
    make.deliver(make.body(make.gpu_alert(status="resolved", starts_at=now)), to=source, at=now + timedelta(hours=1))
    later = now + timedelta(hours=100)
    make.deliver(make.body(make.gpu_alert(starts_at=later)), to=source, at=later)
    assert Incident.objects.exclude(pk=first.pk).get().recurrence_of == first


def test_an_unknown_severity_is_taken_and_marked_for_mapping(source, now):
    make.deliver(make.body(make.gpu_alert(starts_at=now, severity="page")), to=source, at=now)
    assert Incident.objects.get().needs_mapping


def test_what_cannot_be_classified_opens_an_unclassified_incident(source, now):
    member = make.gpu_alert(starts_at=now, alertname="SomethingOdd", err_code="", gpu="")
    make.deliver(make.body(member), to=source, at=now)
    assert Incident.objects.get().fault == "node.unclassified"


def test_an_alert_without_any_subject_waits_where_people_see_it(source, now):
    member = make.gpu_alert(starts_at=now)
    member["labels"] = {"alertname": "Odd", "severity": "warning"}
    make.deliver(make.body(member), to=source, at=now)
    assert Alert.objects.get().fate == Alert.Fate.UNASSIGNED
    assert not Incident.objects.exists()


def test_a_watchdog_is_a_sign_of_life_and_no_incident(source, now):
    make.deliver(make.body(make.gpu_alert(starts_at=now, alertname="Watchdog", severity="none")), to=source, at=now)
    source.refresh_from_db()
    assert source.last_heartbeat_at == now
    assert not Incident.objects.exists()


def test_a_body_that_breaks_the_processing_is_parked_and_the_others_go_on(source, now, monkeypatch):
    def explode(payload):
        raise RuntimeError("boom")

    bad = make.body(make.gpu_alert(starts_at=now))
    with monkeypatch.context() as patch:
        patch.setattr(deliveries, "in_order", explode)
        moment = now
        make.deliver(bad, to=source, at=moment)
        for _round in range(deliveries.MAX_ATTEMPTS):
            moment += timedelta(minutes=10)
            deliveries.process_waiting(at=moment)
    assert Delivery.objects.get().state == Delivery.State.PARKED
    make.deliver(make.body(make.gpu_alert(3, starts_at=now)), to=source, at=moment)
    assert Incident.objects.count() == 1


def test_a_replayed_body_changes_nothing_that_is_in_the_books(source, now, asha):
    delivery = make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    deliveries.replay(delivery, by=asha, at=now)
    deliveries.process_waiting(at=now)
    delivery.refresh_from_db()
    assert delivery.state == Delivery.State.PROCESSED
    assert Incident.objects.get().timeline.count() == 1


PAYLOADS = SHARED / "data" / "payloads"
EXPECTED = json.loads((PAYLOADS / "expected.json").read_text()) if PAYLOADS.exists() else {}
RECORDED = [name for name, case in EXPECTED.items() if case["kind"] == "alertmanager"]


def _bodies(name):
    root = json.loads((PAYLOADS / name).read_text())
    return (
        [json.dumps(step.get("body", step)).encode() for step in root["sequence"]]
        if "sequence" in root
        else [(PAYLOADS / name).read_bytes()]
    )


def _history(name):
    """The bodies that came before, those that they name first."""
    names = []
    for earlier in EXPECTED[name].get("after", []):
        names += [one for one in [*_history(earlier), earlier] if one not in names]
    return names


@pytest.mark.skipif(not RECORDED, reason="the recorded payloads are not beside this checkout")
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_alertmanager_body_is_handled_as_expected(name, source, now):
    case = EXPECTED[name]
    moments = (now + timedelta(days=3650, minutes=minute) for minute in range(100))
    for earlier in _history(name):
        for raw in _bodies(earlier):
            make.deliver(raw, to=source, at=next(moments))
    before, told = Incident.objects.count(), sum(one.timeline.count() for one in Incident.objects.all())
    recurred = sum(part.recurrences for one in Incident.objects.all() for part in one.parts.all())
    kept = [make.deliver(raw, to=source, at=next(moments)) for raw in _bodies(name)]
    seen = [one for delivery in kept for one in deliveries.understand(delivery).alerts if not one.is_heartbeat]
    incidents = list(Incident.objects.order_by("id"))
    parts = [part for one in incidents for part in one.parts.all()]

    assert all(delivery.state == Delivery.State.PROCESSED for delivery in kept)
    steps = case.get("steps", [case])
    assert (len(seen), sum(one.firing for one in seen)) == tuple(
        sum(step[key] for step in steps) for key in ("normal_alerts", "firing")
    )
    for wanted in (signal for step in steps for signal in step.get("signals", [])):
        if wanted.get("fault"):
            assert wanted["fault"] in {row.fault for row in Alert.objects.all()}
        if wanted.get("xid"):
            assert wanted["xid"] in {row.xid for row in Alert.objects.all()}
        if wanted["subject"].get("node") and wanted["state"] == "firing":
            assert wanted["subject"]["node"] in {one.node.hostname for one in incidents}
    if "incidents_from_empty" in case and "after" not in case:
        assert len(incidents) - before == case["incidents_from_empty"]
    if "steps" in case:
        assert len(incidents) == sum(step["incidents_from_empty"] for step in steps)
    if "incidents_open_after" in case:
        assert sum(one.is_open for one in incidents) == case["incidents_open_after"]
    if "parts_firing" in case:
        assert sum(part.firing for part in parts) == case["parts_firing"]
    if "incident_state_after" in case:
        assert {one.state for one in incidents} == {case["incident_state_after"]}
    if "recurrences_added" in case:
        assert sum(part.recurrences for part in parts) - recurred == case["recurrences_added"]
    if "timeline_entries_added" in case:
        assert sum(one.timeline.count() for one in incidents) - told == case["timeline_entries_added"]


STRANGE = (
    {"gpu": "\u00b2"},
    {"err_code": "\u00b2"},
    {"gpu": "9" * 5000},
    {"gpu": "", "UUID": "u" * 300},
    {"device": "nvme0n1" + "x" * 300, "gpu": ""},
    {"alertname": "n" * 500},
)


@pytest.mark.parametrize("labels", STRANGE, ids=lambda labels: next(iter(labels)))
def test_a_strange_member_neither_stops_the_others_nor_is_lost_itself(labels, source, now):
    strange = make.gpu_alert(2, starts_at=now, Hostname="other-node")
    strange["labels"].update(labels)
    make.deliver(make.body(strange, make.gpu_alert(1, starts_at=now)), to=source, at=now)
    assert {one.node.hostname for one in Incident.objects.all()} == {"gpu-r03-n05", "other-node"}


def test_a_time_at_the_edge_of_the_calendar_counts_as_none(source, now):
    member = {**make.gpu_alert(starts_at=now), "startsAt": "9999-12-31T23:59:59-01:00"}
    make.deliver(make.body(member), to=source, at=now)
    assert Alert.objects.get().starts_at == now


def test_a_start_in_the_future_does_not_silence_what_comes_after(source, now):
    future = now + timedelta(days=400)
    make.deliver(make.body(make.gpu_alert(starts_at=future)), to=source, at=now)
    make.deliver(
        make.body(make.gpu_alert(status="resolved", starts_at=future)), to=source, at=now + timedelta(minutes=1)
    )
    later = now + timedelta(hours=1)
    make.deliver(make.body(make.gpu_alert(starts_at=later)), to=source, at=later)
    assert Incident.objects.get().parts.get().firing


def test_a_member_that_breaks_something_is_named_and_the_others_are_taken(source, now, monkeypatch):
    real = alerts.take

    def break_one(alert, desk):
        if alert.labels["gpu"] == "0":
            raise KeyError("boom")
        return real(alert, desk)

    monkeypatch.setattr(alerts, "take", break_one)
    delivery = make.deliver(make.body(*(make.gpu_alert(gpu, starts_at=now) for gpu in (0, 1))), to=source, at=now)
    assert delivery.state == Delivery.State.NOT_UNDERSTOOD
    assert "GpuXid: KeyError" in delivery.last_error
    assert [part.locator for part in Incident.objects.get().parts.all()] == ["GPU 1"]


def test_a_database_that_fails_in_the_middle_keeps_all_of_a_delivery_for_later(source, now, monkeypatch):
    real, calls = alerts.take, []

    def fail_once(alert, desk):
        calls.append(alert)
        if len(calls) == 2:
            raise OperationalError("the database went away")
        return real(alert, desk)

    monkeypatch.setattr(alerts, "take", fail_once)
    raw = make.body(*(make.gpu_alert(gpu, starts_at=now) for gpu in (0, 1)))
    assert make.deliver(raw, to=source, at=now).state == Delivery.State.WAITING
    assert not Incident.objects.exists()
    deliveries.process_waiting(at=now + timedelta(minutes=1))
    assert Incident.objects.get().parts.count() == 2


def test_a_delivery_that_another_pager_holds_is_left_alone_until_its_lease_ends(source, now):
    sources.keep(source, sources.Received(make.body(make.gpu_alert(starts_at=now)), "POST", "::1", {}), at=now)
    Delivery.objects.update(lease_until=now + deliveries.LEASE)
    assert deliveries.process_waiting(at=now) == 0
    assert deliveries.process_waiting(at=now + deliveries.LEASE + timedelta(seconds=1)) == 1


def test_a_delivery_that_ends_the_pager_again_and_again_is_parked(source, now):
    sources.keep(source, sources.Received(make.body(make.gpu_alert(starts_at=now)), "POST", "::1", {}), at=now)
    Delivery.objects.update(attempts=deliveries.MAX_ATTEMPTS)
    deliveries.process_waiting(at=now)
    assert Delivery.objects.get().state == Delivery.State.PARKED


def test_a_part_is_cleared_when_the_last_alert_about_it_is(source, now):
    twice = [make.gpu_alert(0, starts_at=now, rule=name) for name in "ab"]
    make.deliver(make.body(*twice), to=source, at=now)
    for number, name in enumerate("ab"):
        clear = make.gpu_alert(0, status="resolved", starts_at=now, rule=name)
        make.deliver(make.body(clear), to=source, at=now + timedelta(minutes=6 + number))
        assert Incident.objects.get().parts.get().firing == (number == 0)


def test_a_clear_that_is_older_than_the_firing_is_history(source, now):
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    older = make.gpu_alert(status="resolved", starts_at=now - timedelta(hours=1))
    make.deliver(make.body(older), to=source, at=now + timedelta(minutes=1))
    assert Incident.objects.get().parts.get().firing


def test_a_second_alert_does_not_lift_the_tier_beyond_what_the_table_gives(source, now):
    node = make.node(at=now)
    node.cluster.environment = "staging-2"
    node.cluster.save()
    for gpu in (0, 1):
        make.deliver(make.body(make.gpu_alert(gpu, starts_at=now)), to=source, at=now)
    assert Incident.objects.get().severity == "SEV3"


def test_the_tier_that_a_person_chose_stays(source, now, asha):
    make.deliver(make.body(make.gpu_alert(0, starts_at=now)), to=source, at=now)
    tiers.set_severity(Incident.objects.get(), tier="SEV4", reason="a lab node", by=asha, at=now)
    make.deliver(make.body(make.gpu_alert(1, starts_at=now)), to=source, at=now)
    assert Incident.objects.get().severity == "SEV4"


def test_the_72_hours_run_from_the_restoration_not_from_the_paperwork(source, now, asha):
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    make.deliver(make.body(make.gpu_alert(status="resolved", starts_at=now)), to=source, at=now + timedelta(minutes=9))
    Incident.objects.update(state="closed", restored_at=now + timedelta(hours=1), closed_at=now + timedelta(days=20))
    later = now + timedelta(days=22)
    make.deliver(make.body(make.gpu_alert(starts_at=later)), to=source, at=later)
    assert Incident.objects.filter(state="open").get().recurrence_of == Incident.objects.get(state="closed")


def test_what_was_merged_goes_on_in_the_incident_that_took_it_in(source, now, asha):
    make.deliver(make.body(make.gpu_alert(0, starts_at=now)), to=source, at=now)
    young = Incident.objects.get()
    old = make.incident("host.pcie.fatal", on=young.node, at=now)
    causes.merge(young, into=old, reason="one slot", by=asha, at=now)
    make.deliver(make.body(make.gpu_alert(1, starts_at=now)), to=source, at=now + timedelta(minutes=1))
    assert Incident.objects.count() == 2
    assert {part.locator for part in old.parts.filter(firing=True)} == {"GPU 0", "GPU 1"}


def test_a_mistyped_fault_in_the_table_of_a_site_is_refused_and_passed_over(source, now):
    row = FaultMatcher(pattern="gpuxid", fault="gpu.of_bus")
    with pytest.raises(ValidationError):
        row.full_clean()
    row.save()
    make.deliver(make.body(make.gpu_alert(starts_at=now)), to=source, at=now)
    assert Incident.objects.get().fault == "gpu.off_bus"


def test_more_alerts_in_a_body_cost_no_more_reads_of_the_tables(source, now, django_assert_max_num_queries):
    with django_assert_max_num_queries(200) as few:
        make.deliver(make.body(make.gpu_alert(0, starts_at=now)), to=source, at=now)
    with django_assert_max_num_queries(200) as many:
        raw = make.body(*(make.gpu_alert(gpu, starts_at=now + timedelta(minutes=1)) for gpu in range(1, 8)))
        make.deliver(raw, to=source, at=now + timedelta(minutes=1))
    reads = [query for query in many.captured_queries if "faultmatcher" in query["sql"]]
    assert len(reads) == 1
    assert len(few) > 0


@pytest.mark.django_db(transaction=True)
def test_an_incident_that_is_closed_between_look_and_hold_does_not_swallow_the_alert(source, now, asha, monkeypatch):
    make.deliver(make.body(make.gpu_alert(0, starts_at=now)), to=source, at=now)
    first = Incident.objects.get()
    real, closed = lifecycle.open_incident, []

    def close_behind_its_back(*args, **kwargs):
        found = real(*args, **kwargs)
        if not closed:
            closed.append(found)
            long_ago = now - timedelta(days=30)
            Incident.objects.filter(pk=first.pk).update(state="closed", closed_at=long_ago)
        return found

    monkeypatch.setattr(lifecycle, "open_incident", close_behind_its_back)
    make.deliver(make.body(make.gpu_alert(1, starts_at=now)), to=source, at=now + timedelta(minutes=1))
    assert Alert.objects.get(locator="GPU 1").incident != first
    assert Incident.objects.filter(state="open").count() == 1
