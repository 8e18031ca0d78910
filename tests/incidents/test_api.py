import pytest
from django.utils import timezone

from incidents.actions import people
from incidents.models import Incident
from tests.incidents import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def asha_calls(client, asha, now):
    secret = people.make_token(asha, name="test", by=asha, at=now)
    return lambda method, path, **body: getattr(client, method)(
        f"/api/v1/{path}",
        body or None,
        headers={"Authorization": f"Bearer {secret}"},
        **({"content_type": "application/json"} if method == "post" else {}),
    )


def test_without_a_token_nothing_is_told(client):
    for path in ("incidents", "nodes", "months/2026-11"):
        assert client.get(f"/api/v1/{path}").status_code == 401


def test_a_wrong_or_revoked_token_is_refused(client, asha, now):
    secret = people.make_token(asha, name="t", by=asha, at=now)
    people.revoke_token(asha.api_tokens.get(), by=asha, at=now)
    for token in (secret, "sbt_nonsense"):
        assert client.get("/api/v1/incidents", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_only_the_hash_of_a_token_is_kept(asha, now):
    secret = people.make_token(asha, name="t", by=asha, at=now)
    row = asha.api_tokens.get()
    assert secret not in str(vars(row))


def test_an_incident_is_listed_read_and_moved(asha_calls, now):
    incident = make.incident(at=now)
    assert asha_calls("get", "incidents").json()["results"][0]["reference"] == incident.reference
    answer = asha_calls("post", f"incidents/{incident.pk}/move", move="acknowledge")
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["assignee"]) == ("acknowledged", "asha")


def test_a_refused_move_says_what_is_missing(asha_calls, now, asha):
    incident = make.incident(at=now)
    for move in ("acknowledge", "mitigate", "start_repair", "start_verifying"):
        asha_calls("post", f"incidents/{incident.pk}/move", move=move)
    answer = asha_calls("post", f"incidents/{incident.pk}/move", move="restore")
    assert answer.status_code == 409
    assert "diagnostic run" in answer.json()["missing"][0]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"move": "explode"}, "explode"),
        ({"move": "set_cause", "fault": "gpu.nonsense"}, "gpu.nonsense"),
        ({"move": "merge", "text": "x", "into": 999}, "into"),
        ({"move": "set_severity", "severity": "SEV9", "text": "x"}, "SEV1"),
    ],
)
def test_bad_input_is_answered_with_what_is_wrong(body, word, asha_calls, now):
    incident = make.incident(at=now)
    answer = asha_calls("post", f"incidents/{incident.pk}/move", **body)
    assert answer.status_code == 400
    assert word in answer.content.decode()


def test_opening_by_hand_twice_gives_the_same_incident(asha_calls, now):
    make.node("n1", at=now)
    first = asha_calls("post", "incidents", node="n1", fault="gpu.off_bus")
    again = asha_calls("post", "incidents", node="n1", fault="gpu.lost")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert asha_calls("post", "incidents", node="nowhere").status_code == 400


def test_a_stranger_does_not_learn_that_an_incident_exists(client, chen, now):
    incident = make.incident(at=now)
    secret = people.make_token(chen, name="t", by=chen, at=now)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/incidents", headers=headers).json()["results"] == []
    assert client.get(f"/api/v1/incidents/{incident.pk}", headers=headers).status_code == 404
    answer = client.post(f"/api/v1/incidents/{incident.pk}/move", {"move": "acknowledge"}, headers=headers)
    assert answer.status_code == 404


def test_who_may_only_look_gets_403_for_a_move(client, vera, now):
    incident = make.incident(at=now)
    secret = people.make_token(vera, name="t", by=vera, at=now)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.get(f"/api/v1/incidents/{incident.pk}", headers=headers).status_code == 200
    answer = client.post(f"/api/v1/incidents/{incident.pk}/move", {"move": "acknowledge"}, headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["incidents", "nodes"])
def test_a_list_costs_the_same_for_2_rows_and_for_20(path, asha_calls, now, django_assert_max_num_queries):
    def fill(count):
        for number in range(count):
            make.incident(on=make.node(f"n{number}", at=now), at=now)

    fill(2)
    with django_assert_max_num_queries(8) as few:
        asha_calls("get", path)
    fill(20)
    with django_assert_max_num_queries(len(few)):
        assert len(asha_calls("get", path).json()["results"]) == 20


def test_the_month_names_the_rows_behind_each_number(asha_calls):
    incident = make.incident(at=timezone.now())
    month = asha_calls("get", f"months/{incident.declared_at:%Y-%m}").json()
    assert month["failures"]["ids"] == [incident.pk]
    assert month["by_fault"][0]["label"] == "gpu.off_bus"
    assert asha_calls("get", "months/2026-13").status_code == 400


def test_filters_find_open_incidents_of_a_node(asha_calls, now, asha):
    keep = make.incident(on=make.node("n1", at=now), at=now)
    make.incident(on=make.node("n2", at=now), at=now)
    Incident.objects.exclude(pk=keep.pk).update(state="closed")
    rows = asha_calls("get", "incidents?is_open=true&node=n1").json()["results"]
    assert [row["id"] for row in rows] == [keep.pk]


@pytest.mark.parametrize("query", ["is_open=maybe", "bogus=1", "severity=9"])
def test_a_filter_that_cannot_be_meant_is_refused_in_words(query, asha_calls):
    answer = asha_calls("get", f"incidents?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.content.decode()


def test_an_address_that_does_not_exist_is_answered_as_the_api_answers(asha_calls):
    answer = asha_calls("get", "nothere")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")


def test_a_move_that_does_not_exist_is_answered_with_those_that_do(asha_calls, now):
    answer = asha_calls("post", f"incidents/{make.incident(at=now).pk}/move", move="repair")
    assert "start_repair" in answer.content.decode()
