import hashlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from incidents.models import Team
from knowledge.actions import checklists, revisions
from tests.conftest import person
from tests.incidents import factories
from tests.knowledge.samples import SOP, SOP_ZH


@pytest.fixture
def api(asha):
    client = APIClient()
    client.force_authenticate(asha)
    return client


def test_strangers_read_nothing(published, db):
    assert APIClient().get("/api/v1/articles").status_code == 401
    client = APIClient()
    client.force_authenticate(person("nobody"))
    assert client.get("/api/v1/articles").json()["results"] == []
    assert client.get("/api/v1/articles/fan-check").status_code == 404
    assert client.get("/api/v1/faults/host.fan.failed/sop").status_code == 404


def test_lists_articles_with_what_is_published(api, published, django_assert_num_queries):
    (row,) = api.get("/api/v1/articles").json()["results"]
    assert (row["slug"], row["faults"], row["status"]) == ("fan-check", ["host.fan.failed"], "published")
    assert row["published"][0]["content_sha256"] == published.content_sha256
    assert api.get("/api/v1/articles?fault=gpu.off_bus").json()["results"] == []
    assert len(api.get("/api/v1/articles?fault=host.fan.failed&language=en").json()["results"]) == 1
    assert api.get("/api/v1/articles?language=zh-hans").json()["results"] == []


def test_gives_an_article_and_the_bytes_of_a_revision(api, published):
    assert [row["number"] for row in api.get("/api/v1/articles/fan-check").json()["revisions"]] == [1]
    revision = api.get("/api/v1/articles/fan-check/revisions/en/1").json()
    assert [step["key"] for step in revision["steps"]] == ["look", "enough", "swap", "restore", "listen"]
    raw = api.get("/api/v1/articles/fan-check/revisions/en/1/raw")
    assert raw.content == SOP.encode()
    assert raw["ETag"] == f'"{hashlib.sha256(raw.content).hexdigest()}"'
    assert raw["Content-Disposition"].startswith("attachment")
    assert raw["X-Content-Type-Options"] == "nosniff"
    assert api.get("/api/v1/articles/fan-check/revisions/en/2").status_code == 404


def test_every_fault_leads_to_its_sop(api, published, lin, ben, now):
    chinese = revisions.save(published.sop, text=SOP_ZH, language="zh-hans", base=0, by=lin, at=now)
    revisions.publish(chinese, by=ben, at=now)
    assert api.get("/api/v1/faults/host.fan.failed/sop").json()["language"] == "en"
    assert api.get("/api/v1/faults/host.fan.failed/sop?language=zh-hans").json()["title"] == "检查风扇"
    assert api.get("/api/v1/faults/gpu.off_bus/sop").status_code == 404
    unknown = api.get("/api/v1/faults/gpu.melted/sop")
    assert unknown.status_code == 400
    assert "There is no fault 'gpu.melted'" in unknown.json()["detail"]


def test_a_checklist_is_worked_through_by_machine(api, published, incident):
    address = f"/api/v1/incidents/{incident.pk}/checklists"
    started = api.post(address, {}, format="json")
    assert started.status_code == 201
    assert started.json()["next_step"]["key"] == "look"
    run = f"/api/v1/checklists/{started.json()['id']}"
    assert api.post(f"{run}/tick", {"step": "look", "state": "done"}, format="json").json()["state"] == "open"
    assert api.get(run).json()["next_step"]["answers"] == ["suffice", "too_few"]
    answer = {"step": "enough", "state": "done", "answer": "suffice"}
    finished = api.post(f"{run}/tick", answer, format="json").json()
    assert (finished["state"], finished["end"], finished["next_step"]) == ("finished", "verify", None)
    assert [result["by_name"] for result in finished["results"]] == ["Asha", "Asha"]
    late = api.post(f"{run}/tick", {"step": "look", "state": "undone", "expected_latest": 0}, format="json")
    assert late.status_code == 409
    assert len(api.get(f"/api/v1/checklists?incident={incident.pk}").json()["results"]) == 1


def test_a_checklist_is_left_and_its_absence_explained(api, published, incident):
    address = f"/api/v1/incidents/{incident.pk}/checklists"
    assert api.delete(address, {"reason": "vendor on site"}, format="json").status_code == 204
    run = api.post(address, {"slug": "fan-check"}, format="json").json()
    left = api.post(f"/api/v1/checklists/{run['id']}/abandon", {"reason": "wrong SOP"}, format="json").json()
    assert (left["state"], left["skip_reason"]) == ("abandoned", "wrong SOP")
    nothing = api.post(address, {"slug": "no-such"}, format="json")
    assert nothing.status_code == 400


def test_another_team_does_not_see_the_checklists(published, incident, asha, chen, now):
    incident.team = Team.objects.create(name="ours")
    incident.save()
    run = checklists.start(incident, published, by=asha, at=now)
    client = APIClient()
    client.force_authenticate(chen)
    assert client.get("/api/v1/checklists").json()["results"] == []
    assert (
        client.post(f"/api/v1/checklists/{run.pk}/tick", {"step": "look", "state": "done"}, format="json").status_code
        == 404
    )
    assert client.post(f"/api/v1/incidents/{incident.pk}/checklists", {}, format="json").status_code == 404


def test_the_list_of_checklists_costs_the_same_for_few_and_many(api, published, asha, now, django_assert_num_queries):
    def begin(name):
        incident = factories.incident("host.fan.failed", on=factories.node(name, at=now), at=now)
        checklists.start(incident, published, by=asha, at=now)

    begin("n1")
    with CaptureQueriesContext(connection) as few:
        api.get("/api/v1/checklists")
    for number in range(2, 7):
        begin(f"n{number}")
    with django_assert_num_queries(len(few)):
        assert len(api.get("/api/v1/checklists").json()["results"]) == 6
