"""Each page: shown to those who may see it, hidden from strangers, honest about what it refuses."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse

from incidents.actions import fleet, lifecycle, people, postmortems, sources, tiers
from incidents.actions.fleet import NodeFacts, PartFacts
from incidents.domain.actors import SICKBAY
from incidents.domain.permissions import Role
from incidents.models import Incident
from incidents.views import fleet as views_fleet
from incidents.views.acts import DOORS
from tests.conftest import person
from tests.incidents.factories import body, deliver, gpu_alert, node, source
from tests.incidents.factories import incident as open_incident
from tests.incidents.test_markup import faults_of

pytestmark = pytest.mark.django_db
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def at_night(time_machine, now):
    time_machine.move_to(now, tick=False)


@pytest.fixture
def ill(now):
    return open_incident(on=node(at=now), at=now - 10 * MINUTE)


def addresses(incident, delivery):
    return [
        reverse("console"),
        reverse("incident_list"),
        reverse("incident_new"),
        reverse("incident", args=[incident.pk]),
        reverse("incident_live", args=[incident.pk]),
        reverse("postmortem", args=[incident.pk]),
        reverse("node_list"),
        reverse("node", args=[incident.node_id]),
        reverse("month"),
        reverse("month", args=["2026-11"]),
        reverse("delivery_list"),
        reverse("delivery", args=[delivery.pk]),
        reverse("profile"),
        reverse("set_password"),
    ]


def text_of(answer):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode())))


def restored(incident, *, by, at):
    lifecycle.acknowledge(incident, by=by, at=at)
    lifecycle.start_verifying(incident, by=by, at=at + MINUTE)
    lifecycle.record_verification(incident, kind="probe", passed=True, reason="clean", by=SICKBAY, at=at + 2 * MINUTE)
    lifecycle.restore(incident, by=by, at=at + 3 * MINUTE)
    return incident


# --- who sees what -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.AUTHOR, Role.OPERATOR, Role.ADMINISTRATOR])
def test_every_page_is_shown_to_every_role_and_keeps_the_policy(client, ill, now, role):
    delivery = deliver(body(gpu_alert(3, starts_at=now)), to=source(at=now), at=now)
    client.force_login(person("somebody", role))
    for address in addresses(ill, delivery):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert faults_of(answer.content.decode()) == [], address


def test_who_is_not_signed_in_is_asked_to_and_comes_back(client, ill, now):
    delivery = deliver(b"?", to=source(at=now), at=now)
    for address in addresses(ill, delivery):
        answer = client.get(address)
        assert (answer.status_code, answer["Location"]) == (302, f"/signin?next={address}")
    assert client.post(reverse("incident_acknowledge", args=[ill.pk])).status_code == 302
    ill.refresh_from_db()
    assert ill.state == "open"


def test_a_stranger_is_told_nothing_of_what_belongs_to_others(client, ill, chen, now):
    delivery = deliver(b"?", to=source(at=now), at=now)
    client.force_login(chen)
    for name, pk in (
        ("incident", ill.pk),
        ("incident_live", ill.pk),
        ("postmortem", ill.pk),
        ("node", ill.node_id),
        ("delivery", delivery.pk),
    ):
        assert client.get(reverse(name, args=[pk])).status_code == 404, name
    for verb in DOORS:
        assert client.post(reverse(f"incident_{verb}", args=[ill.pk])).status_code == 404, verb
    for name in ("console", "incident_list", "node_list", "delivery_list", "month"):
        page = text_of(client.get(reverse(name)))
        assert "gpu-r03-n05" not in page
        assert "INC-" not in page


@pytest.mark.parametrize("verb", sorted(DOORS))
def test_a_verb_is_never_done_by_looking(client, ill, asha, verb):
    client.force_login(asha)
    assert client.get(reverse(f"incident_{verb}", args=[ill.pk])).status_code == 405


# --- verbs -------------------------------------------------------------------------------------------------------


def test_one_press_acknowledges_and_a_second_is_no_error(client, ill, asha):
    client.force_login(asha)
    for _press in range(2):
        answer = client.post(reverse("incident_acknowledge", args=[ill.pk]))
        assert (answer.status_code, answer["Location"]) == (303, ill.get_absolute_url())
    ill.refresh_from_db()
    assert (ill.state, ill.assignee) == ("acknowledged", asha)
    assert ill.timeline.filter(kind="acknowledge").count() == 1


def test_the_whole_road_by_pressing_buttons(client, asha, now):
    ill = open_incident("host.fan.failed", on=node(at=now), at=now)
    client.force_login(asha)
    for verb, given in (
        ("take", {}),
        ("mitigate", {"text": "drained"}),
        ("start_repair", {}),
        ("wait", {"reason": "part", "note": "fan 3"}),
        ("resume", {}),
        ("start_verifying", {}),
        ("note", {"text": "spins again"}),
        ("severity", {"tier": "SEV4", "reason": "redundant"}),
    ):
        assert client.post(reverse(f"incident_{verb}", args=[ill.pk]), given).status_code == 303, verb
    ill.refresh_from_db()
    assert (ill.state, ill.assignee, ill.severity) == ("verifying", asha, "SEV4")


def test_a_viewer_has_no_buttons_and_is_refused_in_words(client, ill, vera):
    client.force_login(vera)
    page = client.get(ill.get_absolute_url()).content.decode()
    assert 'method="post" action="/incidents/' not in page
    answer = client.post(reverse("incident_acknowledge", args=[ill.pk]))
    assert answer.status_code == 403
    assert "no role that allows 'incident.acknowledge'" in text_of(answer)


def test_only_moves_of_the_table_are_offered(client, ill, asha):
    client.force_login(asha)
    page = client.get(ill.get_absolute_url()).content.decode()
    assert 'data-key="a"' in page
    assert reverse("incident_start_verifying", args=[ill.pk]) not in page
    assert reverse("incident_restore", args=[ill.pk]) not in page


def test_a_refusal_names_all_that_is_missing_on_the_page_itself(client, ill, asha, now):
    restored(ill, by=asha, at=now - 5 * MINUTE)
    client.force_login(asha)
    answer = client.post(reverse("incident_close", args=[ill.pk]), {"note": "all done"})
    page = text_of(answer)
    assert answer.status_code == 409
    assert f"{ill.reference} cannot be closed yet." in page
    assert "No cause is confirmed." in page
    assert "A SEV2 incident needs a published post-mortem." in page
    assert 'value="all done"' in answer.content.decode()
    ill.refresh_from_db()
    assert ill.state == "restored"


def test_the_closing_dialog_lists_what_is_met_and_what_is_not_before_anybody_presses(client, ill, asha, now):
    restored(ill, by=asha, at=now - 5 * MINUTE)
    client.force_login(asha)
    page = client.get(ill.get_absolute_url())
    assert "checks missing" in text_of(page)
    assert "It can be closed when every check is met." in text_of(page)


def test_restoring_before_the_proof_is_refused_with_what_it_takes(client, ill, asha, now):
    lifecycle.acknowledge(ill, by=asha, at=now)
    lifecycle.start_verifying(ill, by=asha, at=now)
    client.force_login(asha)
    assert "Before it can be restored:" in text_of(client.get(ill.get_absolute_url()))
    answer = client.post(reverse("incident_restore", args=[ill.pk]))
    assert answer.status_code == 409
    assert "whose probes are clean for this fault is missing" in text_of(answer)


@pytest.mark.parametrize(
    ("verb", "given", "status", "said"),
    [
        ("note", {"text": "  "}, 400, "The note is empty."),
        ("close", {"disposition": "expected"}, 400, "Say why it is closed without a repair."),
        ("merge", {"into": "seven", "reason": "same"}, 400, "Name the incident as INC-0042."),
        ("merge", {"into": "INC-999999", "reason": "same"}, 404, ""),
        ("clock", {"clock": "detected_at", "to": "yesterday", "reason": "x"}, 400, "Write the time in UTC"),
        ("clock", {"clock": "restored_at", "to": "2026-11-30 02:00", "reason": "x"}, 409, "has not happened yet"),
        ("cause", {"fault_code": "gpu.nonsense"}, 400, "There is no fault 'gpu.nonsense'"),
        ("severity", {"tier": "SEV9", "reason": "x"}, 400, "could not be read"),
        ("wait", {"reason": "luck"}, 400, "could not be read"),
        ("reopen", {}, 200, ""),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_changes(client, ill, asha, verb, given, status, said):
    client.force_login(asha)
    before = Incident.objects.values().get(pk=ill.pk)
    answer = client.post(reverse(f"incident_{verb}", args=[ill.pk]), given)
    if verb == "reopen":  # it is open already, so there is nothing to be done
        assert answer.status_code == 303
    else:
        assert answer.status_code == status
        assert said in text_of(answer)
    assert Incident.objects.values().get(pk=ill.pk) == before


def test_a_clock_is_corrected_in_utc(client, ill, asha, now):
    client.force_login(asha)
    given = {"clock": "impact_started_at", "to": "2026-11-30 02:31:07", "reason": "seen in the log"}
    assert client.post(reverse("incident_clock", args=[ill.pk]), given).status_code == 303
    ill.refresh_from_db()
    assert ill.impact_started_at == now.replace(hour=2, minute=31, second=7)
    assert "corrected the clock Impact started" in text_of(client.get(ill.get_absolute_url()))


def test_two_incidents_are_merged_by_reference(client, ill, asha, now):
    other = open_incident("gpu.ecc.uncorrectable", on=ill.node, at=now)
    client.force_login(asha)
    given = {"into": ill.reference.lower(), "reason": "one board"}
    assert client.post(reverse("incident_merge", args=[other.pk]), given).status_code == 303
    assert ill.reference in text_of(client.get(other.get_absolute_url()))


def test_what_people_and_sources_write_is_shown_as_text(client, asha, now):
    alert = gpu_alert(5, starts_at=now, alertname="GpuXid<script>alert(1)</script>")
    alert["annotations"]["summary"] = "<img src=x onerror=alert(2)>"
    deliver(body(alert), to=source(at=now), at=now)
    ill = Incident.objects.get()
    lifecycle.add_note(ill, text="<b onclick=alert(3)>hm</b>", by=asha, at=now)
    client.force_login(asha)
    for address in (ill.get_absolute_url(), reverse("delivery_list"), reverse("delivery", args=[1])):
        page = client.get(address).content.decode()
        assert faults_of(page) == []
        assert "<img src=x" not in page
        assert "<b onclick" not in page
    assert "&lt;b onclick=alert(3)&gt;hm&lt;/b&gt;" in client.get(ill.get_absolute_url()).content.decode()


# --- live --------------------------------------------------------------------------------------------------------


def test_live_parts_are_sent_once_and_again_when_something_changed(client, ill, asha, now):
    client.force_login(asha)
    address = reverse("incident_live", args=[ill.pk])
    first = client.get(address)
    assert first.status_code == 200
    assert client.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    lifecycle.add_note(ill, text="new", by=asha, at=now)
    again = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 200
    assert again["ETag"] != first["ETag"]
    chinese = client.get(address, headers={"If-None-Match": again["ETag"], "Accept-Language": "zh-hans"})
    assert chinese.status_code == 200


def test_rights_are_asked_before_the_304(client, ill, asha, chen):
    client.force_login(asha)
    etag = client.get(reverse("incident_live", args=[ill.pk]))["ETag"]
    client.force_login(chen)
    answer = client.get(reverse("incident_live", args=[ill.pk]), headers={"If-None-Match": etag})
    assert answer.status_code == 404


def test_a_page_polls_while_the_incident_is_open_and_rests_afterwards(client, ill, asha, now):
    client.force_login(asha)
    assert 'hx-trigger="every' in client.get(ill.get_absolute_url()).content.decode()
    lifecycle.close(ill, disposition="expected", note="maintenance", by=asha, at=now)
    assert 'hx-trigger="every' not in client.get(ill.get_absolute_url()).content.decode()


# --- lists -------------------------------------------------------------------------------------------------------


def many(count, *, at):
    for number in range(count):
        open_incident("host.fan.failed", on=node(f"n{number:03d}", at=at), at=at)


def queries_for(client, address, django_assert_max_num_queries):
    with django_assert_max_num_queries(60) as seen:
        assert client.get(address).status_code == 200
    return len(seen)


@pytest.mark.parametrize("name", ["console", "incident_list", "node_list", "month"])
def test_a_list_costs_the_same_for_five_rows_and_for_fifty(client, asha, now, name, django_assert_max_num_queries):
    client.force_login(asha)
    many(5, at=now - HOUR)
    few = queries_for(client, reverse(name), django_assert_max_num_queries)
    many(50, at=now - HOUR)
    assert queries_for(client, reverse(name), django_assert_max_num_queries) == few


def test_the_inbox_costs_the_same_for_five_deliveries_and_for_fifty(client, asha, now, django_assert_max_num_queries):
    client.force_login(asha)
    sender = source(at=now)

    def deliver_some(count, first):
        for number in range(first, first + count):
            deliver(body(gpu_alert(number, starts_at=now, Hostname=f"n{number}")), to=sender, at=now)

    deliver_some(5, 0)
    few = queries_for(client, reverse("delivery_list"), django_assert_max_num_queries)
    deliver_some(45, 5)
    assert queries_for(client, reverse("delivery_list"), django_assert_max_num_queries) == few


def test_going_on_to_older_ones_shows_every_row_once(client, asha, now):
    many(120, at=now)
    client.force_login(asha)
    seen, address = [], reverse("incident_list")
    while address:
        page = client.get(address).content.decode()
        seen += re.findall(r'href="/incidents/(\d+)/" title=', page)
        older = re.search(r'class="btn" href="(\?[^"]*before=[^"]*)">Older', page)
        address = reverse("incident_list") + unescape(older.group(1)) if older else ""
    assert len(seen) == len(set(seen)) == 120


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("", 2),
        ("view=all", 3),
        ("view=unanswered", 1),
        ("view=mine", 1),
        ("state=closed", 1),
        ("severity=SEV2", 1),
        ("fault=gpu.off_bus", 1),
        ("node=n1", 1),
        ("q=bus", 1),
        ("q=掉卡", 1),
        ("q=INC-nothing", 0),
        ("month=2026-11", 3),
        ("month=2026-10", 0),
        ("month=2026-99&view=all", 3),
        ("before=abc", 2),
        ("ids=1,2,3,999", 3),
    ],
)
def test_the_list_is_filtered_by_what_its_address_says(client, asha, now, asked, count):
    first = open_incident("gpu.off_bus", on=node("n0", at=now), at=now)
    second = open_incident("host.fan.failed", on=node("n1", at=now), at=now)
    third = open_incident("host.psu.failed", on=node("n2", at=now), at=now)
    if asked.startswith("ids="):
        asked = f"ids={first.pk},{second.pk},{third.pk},999999"
    lifecycle.acknowledge(second, by=asha, at=now)
    lifecycle.close(third, disposition="expected", note="planned", by=asha, at=now)
    client.force_login(asha)
    page = client.get(f"{reverse('incident_list')}?{asked}").content.decode()
    assert len(re.findall(r"<tr data-row", page)) == count


def test_an_incident_is_opened_by_hand_and_once_only(client, asha, now):
    node("gpu-r01-n01", at=now)
    client.force_login(asha)
    given = {"node": "GPU-R01-N01", "fault": "gpu.off_bus", "tier": "SEV3", "text": "two of eight missing"}
    first = client.post(reverse("incident_new"), given)
    second = client.post(reverse("incident_new"), given)
    ill = Incident.objects.get()
    assert first["Location"] == second["Location"] == ill.get_absolute_url()
    assert (ill.severity, ill.severity_rule) == ("SEV3", tiers.BY_PERSON)
    wrong = client.post(reverse("incident_new"), {"node": "nowhere", "fault": "gpu.what"})
    assert wrong.status_code == 400
    assert "No node is called 'nowhere'" in text_of(wrong)
    assert "There is no fault 'gpu.what'" in text_of(wrong)


def test_a_viewer_cannot_open_one(client, vera, now):
    node("n1", at=now)
    client.force_login(vera)
    answer = client.post(reverse("incident_new"), {"node": "n1", "fault": "gpu.off_bus"})
    assert answer.status_code == 403
    assert not Incident.objects.exists()


# --- month -------------------------------------------------------------------------------------------------------


def test_each_number_of_the_month_leads_to_exactly_its_rows(client, asha, now):
    ids = [open_incident("host.fan.failed", on=node(f"n{n}", at=now), at=now - n * HOUR).pk for n in range(3)]
    lifecycle.acknowledge(Incident.objects.get(pk=ids[0]), by=asha, at=now)
    client.force_login(asha)
    page = client.get(reverse("month", args=["2026-11"])).content.decode()
    links = set(re.findall(r'href="(/incidents/\?view=all&(?:amp;)?ids=([\d,]+))"', page))
    assert {tuple(sorted(ids)), (ids[0],)} <= {tuple(sorted(map(int, found.split(",")))) for _address, found in links}
    for address, found in links:
        rows = re.findall(r'href="/incidents/(\d+)/" title=', client.get(unescape(address)).content.decode())
        assert sorted(rows) == sorted(found.split(","))


def test_a_month_to_come_has_no_page(client, asha):
    client.force_login(asha)
    assert client.get(reverse("month", args=["2027-01"])).status_code == 404
    assert client.get("/reports/2026-13/").status_code == 404


# --- post-mortem -------------------------------------------------------------------------------------------------


def test_a_post_mortem_is_drafted_refused_while_incomplete_and_published(client, ill, asha):
    client.force_login(asha)
    address = reverse("postmortem", args=[ill.pk])
    texts = {"summary": "A riser.", "impact": "One node.", "root_cause": "Riser 5.", "prevention": ""}
    assert client.post(address, texts).status_code == 303
    refused = client.post(reverse("postmortem_publish", args=[ill.pk]), texts)
    assert refused.status_code == 409
    assert "What will prevent it is empty." in text_of(refused)
    texts["prevention"] = "Swap risers."
    assert client.post(reverse("postmortem_publish", args=[ill.pk]), texts).status_code == 303
    ill.refresh_from_db()
    assert ill.postmortem.published_at
    assert "published" in text_of(client.get(address))


def test_a_viewer_reads_a_post_mortem_and_does_not_write_it(client, ill, asha, vera, now):
    postmortems.save(ill, by=asha, at=now, summary="A riser broke.")
    client.force_login(vera)
    page = client.get(reverse("postmortem", args=[ill.pk]))
    assert "A riser broke." in text_of(page)
    assert "<textarea" not in page.content.decode()
    assert client.post(reverse("postmortem", args=[ill.pk]), {"summary": "x"}).status_code == 403


# --- inbox -------------------------------------------------------------------------------------------------------


def test_what_was_not_understood_is_shown_as_it_came_and_can_be_replayed(client, asha, vera, now):
    delivery = deliver(b'{"alerts": [<oops>', to=source(at=now), at=now)
    client.force_login(asha)
    page = client.get(reverse("delivery", args=[delivery.pk])).content.decode()
    assert "{&quot;alerts&quot;: [&lt;oops&gt;" in page
    assert "1 delivery was not understood" in text_of(client.get(reverse("delivery_list")))
    assert client.post(reverse("delivery_replay", args=[delivery.pk])).status_code == 303
    delivery.refresh_from_db()
    assert delivery.state == "waiting"
    client.force_login(vera)
    assert client.post(reverse("delivery_replay", args=[delivery.pk])).status_code == 403


def test_a_cut_body_says_why_it_is_not_replayed(client, asha, now):
    sender = source(at=now)
    kept = sources.keep(sender, sources.Received(b"{", "POST", "::1", {}, is_cut=True), at=now)
    client.force_login(asha)
    answer = client.post(reverse("delivery_replay", args=[kept.pk]))
    assert answer.status_code == 409
    assert "only its beginning is kept" in text_of(answer)


# --- signing in --------------------------------------------------------------------------------------------------


def test_opening_a_sign_in_link_changes_nothing_and_its_button_works_once(client, asha, now):
    secret = people.make_sign_in_link(asha, by=SICKBAY, at=now)
    address = reverse("signin_link", args=[secret])
    for _look in range(2):
        assert client.get(address).status_code == 200
        assert "_auth_user_id" not in client.session
    answer = client.post(address)
    assert (answer.status_code, answer["Location"]) == (303, reverse("set_password"))
    assert client.session["_auth_user_id"] == str(asha.pk)
    used = client.post(address)
    assert used.status_code == 410
    assert "used already" in text_of(used)


def test_a_new_password_is_checked_and_then_signs_in(client, asha, settings):
    client.force_login(asha)
    short = client.post(reverse("set_password"), {"new_password1": "short", "new_password2": "short"})
    assert short.status_code == 400
    good = "correct horse battery"
    given = {"new_password1": good, "new_password2": good}
    assert client.post(reverse("set_password"), given).status_code == 303
    assert client.get(reverse("console")).status_code == 200
    assert client.get(reverse("signout")).status_code == 405
    assert client.post(reverse("signout")).status_code == 303
    assert client.get(reverse("console")).status_code == 302
    wrong = client.post(reverse("signin"), {"username": "asha", "password": "no"})
    assert "correct username and password" in text_of(wrong)
    answer = client.post(reverse("signin"), {"username": "asha", "password": good, "next": "/incidents/"})
    assert answer["Location"] == "/incidents/"


def test_signing_in_never_leads_to_another_host(client, asha):
    asha.set_password("correct horse battery")
    asha.save()
    given = {"username": "asha", "password": "correct horse battery", "next": "https://evil.example/"}
    assert client.post(reverse("signin"), given)["Location"] == reverse("console")


def test_the_first_day_says_what_to_do(client, ben):
    client.force_login(ben)
    page = text_of(client.get(reverse("console")))
    assert "Nothing needs you" in page
    assert "./manage.py sources add alertmanager --kind alertmanager" in page
    assert "No node is known" in page


def test_somebody_without_a_role_sees_pages_but_no_rows(client, ill):
    client.force_login(person("new"))
    assert "You have no role yet" in text_of(client.get(reverse("profile")))
    assert ill.reference not in text_of(client.get(reverse("incident_list")))


def test_reopening_what_is_open_elsewhere_says_where_to_go_on(client, asha, now):
    at = now
    twice = node("twice", at=at)
    old = open_incident("gpu.off_bus", on=twice, at=at)
    lifecycle.close(old, by=asha, at=at, disposition="expected", note="swap")
    new = open_incident("gpu.off_bus", on=twice, at=at)
    client.force_login(asha)
    answer = client.post(f"/incidents/{old.pk}/reopen", {"text": "again"})
    assert answer.status_code == 409
    assert new.reference in answer.content.decode()


def test_reopening_is_not_offered_when_it_could_only_be_refused(client, asha, now):
    at = now - timedelta(days=4)
    old = open_incident("gpu.off_bus", on=node("old", at=at), at=at)
    lifecycle.close(old, by=asha, at=at, disposition="expected", note="swap")
    client.force_login(asha)
    assert 'data-open="reopen"' not in client.get(old.get_absolute_url()).content.decode()


def test_a_firing_gpu_stands_before_healthy_parts_and_slot_2_before_slot_10(client, asha, now):
    at = now
    parts = [PartFacts(kind, str(slot)) for kind in ("dimm", "gpu") for slot in range(12)]
    big = fleet.enrol(NodeFacts("big", parts=parts), by=SICKBAY, at=at)
    incident = open_incident("gpu.off_bus", on=big, at=at)
    ill = big.parts.get(kind="gpu", slot="7")
    incident.parts.create(part=ill, kind="gpu", locator="GPU 7", fault="gpu.off_bus", fired_at=at)
    groups = views_fleet._parts_by_kind(big, [incident])
    assert [rows[0].part.kind for _kind, rows in groups] == ["gpu", "dimm"]
    assert [row.part.slot for row in groups[0][1]][:4] == ["7", "0", "1", "2"]
    assert [row.part.slot for row in groups[1][1]][2:4] == ["2", "3"]
