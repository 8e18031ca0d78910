import json

import pytest
from rest_framework.test import APIClient

from diagnostics.actions import uploads
from incidents.domain.permissions import Role
from incidents.models import RoleGrant
from tests.diagnostics.conftest import QUIET, XID_79
from tests.diagnostics.worker import work_off
from tests.incidents.factories import incident as open_incident

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    def of(user):
        client = APIClient()
        client.force_authenticate(user)
        return client

    return of


@pytest.fixture
def sick(here, recording, now):
    recording.say_kernel(QUIET + XID_79)
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    return incident


def test_findings_are_listed_with_their_lines(sick, client, vera):
    answer = client(vera).get(f"/api/v1/findings?incident={sick.pk}&root=true")
    (row,) = answer.json()["results"]
    assert (row["fault"], row["line_number"], row["node"]) == ("gpu.off_bus", 3, "gpu-r03-n05")
    assert row["lines"][0]["text"] == XID_79.strip()


def test_a_run_shows_each_probe_with_its_outcome(sick, client, vera):
    (run,) = client(vera).get(f"/api/v1/runs?incident={sick.pk}").json()["results"]
    assert {row["probe"]: row["outcome"] for row in run["probes"]}["kernel_log"] == "findings"
    assert run["state"] == "finished"


def test_a_run_is_started_once(sick, client, asha):
    first, again = (client(asha).post("/api/v1/runs", {"node": "GPU-R03-N05"}, format="json") for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.json()["id"] == again.json()["id"]


@pytest.mark.parametrize(
    ("data", "code"),
    [({}, 400), ({"node": "nobody"}, 400), ({"incident": 999999}, 400), ({"node": "gpu-r03-n05", "plan": "x"}, 400)],
)
def test_a_run_of_what_is_not_there_is_refused_with_words(sick, client, asha, data, code):
    answer = client(asha).post("/api/v1/runs", data, format="json")
    assert answer.status_code == code
    assert answer.json()


def test_a_verification_before_its_time_is_refused(sick, client, asha):
    answer = client(asha).post("/api/v1/runs", {"incident": sick.pk, "purpose": "verify"}, format="json")
    assert answer.status_code == 409


def test_who_may_only_look_starts_gives_and_confirms_nothing(sick, client, vera):
    finding = sick.findings.get(root=True)
    tries = [
        ("/api/v1/runs", {"incident": sick.pk}, "json"),
        (f"/api/v1/findings/{finding.pk}/verdict", {"confirmed": True}, "json"),
    ]
    for address, data, form in tries:
        assert client(vera).post(address, data, format=form).status_code == 403
    assert sick.runs.count() == 1
    assert not finding.verdicts.exists()


def test_strangers_see_nothing_of_it(sick, client, chen, asha, now):
    uploads.add_evidence(incident=sick, name="a.log", data=b"log", by=asha, at=now)
    stranger = client(chen)
    for kind, row in (
        ("runs", sick.runs.first()),
        ("findings", sick.findings.first()),
        ("evidence", sick.evidence.first()),
    ):
        assert stranger.get(f"/api/v1/{kind}").json()["results"] == []
        assert stranger.get(f"/api/v1/{kind}/{row.pk}").status_code == 404
    assert stranger.get(f"/api/v1/evidence/{sick.evidence.first().pk}/download").status_code == 404


def test_nobody_gets_in_without_a_name(sick, db):
    assert APIClient().get("/api/v1/runs").status_code == 401


def test_evidence_is_uploaded_judged_and_given_back(sick, client, asha, now, tmp_path):
    file = tmp_path / "dmesg.txt"
    file.write_bytes(QUIET.encode())
    with file.open("rb") as opened:
        answer = client(asha).post(f"/api/v1/incidents/{sick.pk}/evidence", {"file": opened}, format="multipart")
    assert answer.status_code == 201, answer.content
    work_off(at=now)
    got = client(asha).get(f"/api/v1/evidence/{answer.json()['id']}/download")
    assert got.content == QUIET.encode()
    assert got["Content-Disposition"] == 'attachment; filename="dmesg.txt"'
    assert (got["Content-Type"], got["X-Content-Type-Options"]) == ("application/octet-stream", "nosniff")


def test_an_empty_upload_is_refused_with_words(sick, client, asha, tmp_path):
    (tmp_path / "empty").touch()
    with (tmp_path / "empty").open("rb") as opened:
        answer = client(asha).post(f"/api/v1/incidents/{sick.pk}/evidence", {"file": opened}, format="multipart")
    assert (answer.status_code, "empty" in json.dumps(answer.json())) == (400, True)


def test_confirming_a_finding_makes_it_the_cause(sick, client, asha):
    finding = sick.findings.get(root=True)
    answer = client(asha).post(f"/api/v1/findings/{finding.pk}/verdict", {"confirmed": True}, format="json")
    assert answer.json()["verdicts"][0]["by"] == "asha"
    sick.refresh_from_db()
    assert sick.cause == "gpu.off_bus"
    client(asha).post(f"/api/v1/findings/{finding.pk}/verdict", {"confirmed": True}, format="json")
    assert finding.verdicts.count() == 1


def test_a_rejection_needs_its_reason(sick, client, asha):
    address = f"/api/v1/findings/{sick.findings.get(root=True).pk}/verdict"
    assert client(asha).post(address, {"confirmed": False}, format="json").status_code == 400
    assert client(asha).post(address, {"confirmed": False, "note": "old card"}, format="json").status_code == 200


@pytest.mark.parametrize("kind", ["runs", "findings", "evidence"])
def test_a_list_costs_the_same_for_few_rows_and_many(
    sick, client, vera, asha, now, kind, django_assert_max_num_queries
):
    RoleGrant.objects.filter(user=vera).update(role=Role.VIEWER)
    for number in range(8):
        uploads.add_evidence(incident=sick, name=f"{number}.log", data=f"{number}\n{XID_79}".encode(), by=asha, at=now)
    work_off(at=now)
    with django_assert_max_num_queries(7):
        rows = client(vera).get(f"/api/v1/{kind}").json()["results"]
    assert len(rows) >= 9
