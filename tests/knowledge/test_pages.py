"""The library, one SOP, one fault, and the checklist on the page of an incident."""

import re
from html import unescape

import pytest
from django.urls import reverse

from incidents.domain import faults
from incidents.domain.permissions import Role
from knowledge.actions import checklists, library, revisions
from knowledge.models import ChecklistRun
from tests.conftest import person
from tests.incidents.test_markup import faults_of
from tests.knowledge.samples import SOP

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def at_night(time_machine, now):
    time_machine.move_to(now, tick=False)


def text_of(answer):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode())))


def steps_of(run):
    return [(row.step_key, row.state, row.note) for row in run.results.order_by("id")]


def test_every_fault_has_a_page_at_its_stable_address(client, vera):
    client.force_login(vera)
    for fault in faults.all_faults():
        answer = client.get(f"/faults/{fault.code}/")
        assert answer.status_code == 200, fault.code
    assert client.get("/faults/gpu.nonsense/").status_code == 404


def test_the_page_of_a_fault_leads_to_its_sop_or_says_that_there_is_none(client, published, vera):
    client.force_login(vera)
    covered = client.get(reverse("fault", args=["host.fan.failed"])).content.decode()
    assert reverse("sop", args=["fan-check"]) in covered
    assert "No SOP is published for this fault yet." in text_of(client.get(reverse("fault", args=["gpu.off_bus"])))


def test_an_empty_library_says_how_to_fill_it(client, vera):
    client.force_login(vera)
    assert "./manage.py sops load" in text_of(client.get(reverse("sop_list")))


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_library_that_ships_is_shown_in_either_language(client, vera, now, language):
    library.load(at=now)
    client.force_login(vera)
    page = client.get(reverse("sop_list"), headers={"Accept-Language": language}).content.decode()
    slugs = re.findall(r'href="/sops/([\w-]+)/"', page)
    assert len(slugs) == 5
    for slug in slugs:
        answer = client.get(reverse("sop", args=[slug]), headers={"Accept-Language": language})
        assert answer.status_code == 200
        assert faults_of(answer.content.decode()) == []


def test_the_library_costs_the_same_for_one_sop_and_for_many(
    client, published, lin, ben, vera, now, django_assert_max_num_queries
):
    client.force_login(vera)

    def cost():
        with django_assert_max_num_queries(40) as seen:
            assert client.get(reverse("sop_list")).status_code == 200
        return len(seen)

    few = cost()
    for number in range(20):
        text = SOP.replace("id: fan-check", f"id: fan-check-{number}")
        revisions.publish(revisions.create(text=text, language="en", by=lin, at=now), by=ben, at=now)
    assert cost() == few


def test_an_older_revision_says_that_it_is_old(client, published, lin, ben, vera, now):
    newer = revisions.save(
        published.sop,
        text=SOP.replace("A fan is slow.", "A fan stands still."),
        language="en",
        base=published.number,
        by=lin,
        at=now,
    )
    revisions.publish(newer, by=ben, at=now)
    client.force_login(vera)
    address = reverse("sop", args=["fan-check"])
    assert "A fan stands still." in text_of(client.get(address))
    old = text_of(client.get(address, {"rev": published.number, "lang": "en"}))
    assert "A fan is slow." in old
    assert f"This is revision {published.number}, an older one." in old
    assert client.get(address, {"rev": 99}).status_code == 404


def test_a_text_that_is_missing_in_the_language_is_named_as_another_one(client, published, vera):
    client.force_login(vera)
    page = client.get(reverse("sop", args=["fan-check"]), {"lang": "zh-hans"})
    assert "another one" in text_of(page)


def test_somebody_without_a_role_reads_no_sop(client, published):
    client.force_login(person("new"))
    assert client.get(reverse("sop", args=["fan-check"])).status_code == 404


def test_a_checklist_is_begun_from_the_suggestion_and_stays_pinned(client, published, incident, asha):
    client.force_login(asha)
    page = client.get(incident.get_absolute_url())
    assert "Start the checklist" in text_of(page)
    given = {"revision": published.pk}
    for _press in range(2):
        assert client.post(reverse("checklist_start", args=[incident.pk]), given).status_code == 303
    run = ChecklistRun.objects.get()
    assert (run.revision, run.content_sha256) == (published, published.content_sha256)
    assert published.content_sha256[:12] in client.get(incident.get_absolute_url()).content.decode()


def test_steps_are_ticked_skipped_with_a_reason_and_taken_back(client, published, incident, asha, now):
    run = checklists.start(incident, published, by=asha, at=now)
    client.force_login(asha)
    address = reverse("checklist_tick", args=[run.pk, "look"])
    silent = client.post(address, {"state": "skipped", "expected": "0"})
    assert (silent.status_code, "Say why the step was skipped." in text_of(silent)) == (400, True)
    for _press in range(2):
        assert client.post(address, {"state": "done", "expected": "0"}).status_code == 303
    assert steps_of(run) == [("look", "done", "")]
    page = client.get(incident.get_absolute_url())
    assert "did step 1, Look at the fans" in text_of(page)
    done = run.results.get()
    stale = client.post(address, {"state": "failed", "note": "no", "expected": "0"})
    assert stale.status_code == 409
    assert client.post(address, {"state": "undone", "expected": str(done.pk)}).status_code == 303
    assert [state for _key, state, _note in steps_of(run)] == ["done", "undone"]


def test_not_using_the_sop_needs_a_reason(client, published, incident, asha):
    client.force_login(asha)
    address = reverse("checklist_skip", args=[incident.pk])
    assert client.post(address, {"reason": ""}).status_code == 400
    assert client.post(address, {"reason": "replaced the fan at once"}).status_code == 303
    assert "replaced the fan at once" in text_of(client.get(incident.get_absolute_url()))


def test_strangers_and_viewers_tick_nothing(client, published, incident, asha, vera, chen, now):
    run = checklists.start(incident, published, by=asha, at=now)
    tick, start = reverse("checklist_tick", args=[run.pk, "look"]), reverse("checklist_start", args=[incident.pk])
    for user, status in ((vera, 403), (chen, 404)):
        client.force_login(user)
        assert client.post(tick, {"state": "done"}).status_code == status
        assert client.post(start, {"revision": published.pk}).status_code == status
    client.force_login(person("rita", Role.RESPONDER))
    assert client.get(tick).status_code == 405
    assert client.get(start).status_code == 405
    assert steps_of(run) == []


def test_live_updates_leave_a_checklist_alone_in_which_somebody_may_be_typing(client, published, incident, asha, now):
    client.force_login(asha)
    live = reverse("incident_live", args=[incident.pk])
    assert 'id="checklist"' in client.get(live).content.decode()
    checklists.start(incident, published, by=asha, at=now)
    assert 'id="checklist"' not in client.get(live).content.decode()
