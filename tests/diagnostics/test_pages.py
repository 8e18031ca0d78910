"""Runs, evidence and findings as pages show them, and the doors beside them."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from diagnostics.actions import evidence as kept
from diagnostics.actions import probing, uploads
from diagnostics.models import Evidence, Finding
from diagnostics.views.evidence import window_of
from incidents.actions import lifecycle, reactions
from tests.diagnostics.conftest import QUIET, XID_79
from tests.diagnostics.worker import work, work_off
from tests.incidents.factories import incident as open_incident
from tests.incidents.factories import node as discovered
from tests.incidents.test_markup import faults_of

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def at_night(time_machine, now):
    time_machine.move_to(now, tick=False)


@pytest.fixture
def examined(here, recording, now):
    """An incident of this machine whose first run has found the lost GPU."""
    recording.say_kernel(QUIET + XID_79)
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    return incident


def text_of(answer):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode())))


def test_the_page_of_the_incident_marks_the_very_line(client, examined, vera):
    client.force_login(vera)
    page = client.get(examined.get_absolute_url())
    marked = re.search(r"<mark><span data-n=\"3\">(.*?)</span></mark>", page.content.decode())
    assert marked
    assert unescape(marked.group(1)) == XID_79.strip()
    assert "Confirm as the cause" not in text_of(page)  # a viewer may not


def test_a_run_shows_every_answer_and_what_was_not_supported(client, examined, asha):
    client.force_login(asha)
    run = examined.runs.get()
    page = client.get(reverse("run", args=[run.pk]))
    assert faults_of(page.content.decode()) == []
    words = text_of(page)
    assert f"Run {run.pk} found a fault" in words
    assert "1 fault" in words
    assert "1 not supported here" in words
    assert "2 clean" in words


def test_what_could_not_be_checked_is_listed_with_the_reason(client, here, recording, asha, now):
    (recording.folder / "commands/dmesg_--time-format_iso.txt").unlink()
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    client.force_login(asha)
    gap = incident.runs.get().probes.get(probe="kernel_log")
    assert gap.outcome == "could_not_check"
    for address in (incident.get_absolute_url(), reverse("run", args=[gap.run_id])):
        page = text_of(client.get(address))
        assert "not counted as clean" in page
        assert gap.reason in page


def test_a_live_run_is_sent_again_only_when_a_probe_has_answered(client, here, asha, chen, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off_events_only(now)
    run = incident.runs.get()
    client.force_login(asha)
    addresses = (reverse("run_live", args=[run.pk]), reverse("incident_live", args=[incident.pk]))
    tags = [client.get(address)["ETag"] for address in addresses]
    for address, tag in zip(addresses, tags, strict=True):
        assert client.get(address, headers={"If-None-Match": tag}).status_code == 304
    probing.take_probe(run.probes.get(probe="disk").pk, at=now)
    for address, tag in zip(addresses, tags, strict=True):
        assert client.get(address, headers={"If-None-Match": tag}).status_code == 200
    work(run, at=now)
    page = client.get(addresses[0]).content.decode()
    assert "hx-trigger" not in page
    client.force_login(chen)
    assert client.get(addresses[0], headers={"If-None-Match": tags[0]}).status_code == 404


def work_off_events_only(now):
    """The pager has reacted; no worker has come yet."""
    while reactions.react(at=now):
        pass


def test_diagnose_starts_one_run_however_often_it_is_pressed(client, examined, asha):
    client.force_login(asha)
    for _press in range(2):
        answer = client.post(reverse("incident_diagnose", args=[examined.pk]))
        assert answer.status_code == 303
    assert examined.runs.filter(purpose="manual").count() == 1


def test_diagnose_while_verifying_starts_the_run_that_can_prove_it(client, examined, asha, now):
    lifecycle.acknowledge(examined, by=asha, at=now)
    lifecycle.start_verifying(examined, by=asha, at=now)
    client.force_login(asha)
    client.post(reverse("incident_diagnose", args=[examined.pk]))
    assert examined.runs.latest("pk").purpose == "verify"


def test_a_node_without_a_way_is_refused_on_its_own_page(client, asha, now):
    far = discovered("far-away", at=now)
    incident = open_incident("gpu.off_bus", on=far, at=now)
    client.force_login(asha)
    for name, pk in (("incident_diagnose", incident.pk), ("node_diagnose", far.pk)):
        answer = client.post(reverse(name, args=[pk]))
        assert answer.status_code == 409
        assert "There is no way to far-away from here." in text_of(answer)


def test_a_viewer_starts_and_stops_nothing(client, examined, vera):
    client.force_login(vera)
    run = examined.runs.get()
    for name, pk in (
        ("incident_diagnose", examined.pk),
        ("node_diagnose", examined.node_id),
        ("run_cancel", run.pk),
        ("incident_evidence", examined.pk),
        ("finding_confirm", run.findings.get(root=True).pk),
    ):
        assert client.post(reverse(name, args=[pk]), {"text": "x"}).status_code == 403, name
        assert client.get(reverse(name, args=[pk])).status_code == 405, name


def test_a_stranger_sees_neither_run_nor_evidence(client, examined, chen):
    client.force_login(chen)
    run, row = examined.runs.get(), examined.evidence.first()
    finding = run.findings.get(root=True)
    assert client.get(reverse("run", args=[run.pk])).status_code == 404
    assert client.get(reverse("evidence", args=[row.pk])).status_code == 404
    assert client.get(reverse("evidence_download", args=[row.pk])).status_code == 404
    assert client.post(reverse("finding_confirm", args=[finding.pk])).status_code == 404
    assert client.post(reverse("incident_evidence", args=[examined.pk]), {"text": "x"}).status_code == 404


def test_a_pasted_log_is_kept_judged_and_named(client, asha, now):
    incident = open_incident("node.unclassified", on=discovered("far-away", at=now), at=now)
    client.force_login(asha)
    answer = client.post(reverse("incident_evidence", args=[incident.pk]), {"text": XID_79.replace("\n", "\r\n")})
    assert (answer.status_code, answer["Location"]) == (303, f"{incident.get_absolute_url()}#evidence")
    work_off(at=now)
    assert Finding.objects.get(incident=incident, root=True).fault == "gpu.off_bus"
    assert "gpu.off_bus" in text_of(client.get(incident.get_absolute_url()))


def test_a_file_is_uploaded_under_its_own_name(client, asha, now):
    incident = open_incident("node.unclassified", on=discovered("far-away", at=now), at=now)
    client.force_login(asha)
    given = {"file": SimpleUploadedFile("dmesg.txt", XID_79.encode()), "text": ""}
    assert client.post(reverse("incident_evidence", args=[incident.pk]), given).status_code == 303
    assert incident.evidence.get().name == "dmesg.txt"


def test_an_empty_or_too_long_file_is_refused_in_words(client, asha, now, settings):
    settings.EVIDENCE_UPLOAD_MAX_BYTES = 1024**2
    incident = open_incident("node.unclassified", on=discovered("far-away", at=now), at=now)
    client.force_login(asha)
    address = reverse("incident_evidence", args=[incident.pk])
    empty = client.post(address, {"text": "  "})
    assert (empty.status_code, "The file is empty." in text_of(empty)) == (400, True)
    long = client.post(address, {"file": SimpleUploadedFile("a.log", b"x" * (1024**2 + 1))})
    assert (long.status_code, "up to 1 MiB are taken" in text_of(long)) == (400, True)
    assert not incident.evidence.exists()


def test_a_finding_is_confirmed_or_rejected_with_a_reason(client, examined, asha):
    client.force_login(asha)
    finding = examined.runs.get().findings.get(root=True)
    silent = client.post(reverse("finding_reject", args=[finding.pk]), {"note": " "})
    assert (silent.status_code, "Say why the finding is rejected." in text_of(silent)) == (400, True)
    answer = client.post(reverse("finding_confirm", args=[finding.pk]))
    assert answer["Location"] == f"{examined.get_absolute_url()}#findings"
    examined.refresh_from_db()
    assert examined.cause == "gpu.off_bus"
    assert "confirmed by Asha" in text_of(client.get(examined.get_absolute_url()))


def test_evidence_is_read_as_text_around_the_line_and_downloaded_as_an_attachment(client, asha, now):
    incident = open_incident("node.unclassified", on=discovered("far-away", at=now), at=now)
    lines = [f"line {number}" for number in range(1, 1001)]
    lines[699] = "<script>alert(1)</script>\x1b[31m \u202e reversed"
    row = uploads.add_evidence(incident=incident, name='a"b.log', data="\n".join(lines).encode(), by=asha, at=now)
    client.force_login(asha)
    page = client.get(reverse("evidence", args=[row.pk]), {"line": 700}).content.decode()
    assert faults_of(page) == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    assert 'id="L700"' in page
    assert 'id="L1"' not in page
    found = client.get(reverse("evidence", args=[row.pk]), {"q": "LINE 99"})
    assert len(re.findall(r'id="L99', found.content.decode())) == 11
    bytes_ = client.get(reverse("evidence_download", args=[row.pk]))
    assert bytes_.content == "\n".join(lines).encode()
    assert bytes_["Content-Disposition"].startswith("attachment")
    assert bytes_["Content-Type"] == "application/octet-stream"


def test_purged_evidence_says_so_and_keeps_its_hash(client, asha, ben, now):
    incident = open_incident("node.unclassified", on=discovered("far-away", at=now), at=now)
    row = uploads.add_evidence(incident=incident, name="a.log", data=b"secret\n", by=asha, at=now)
    kept.purge(row, reason="held personal data", by=ben, at=now)
    client.force_login(asha)
    page = client.get(reverse("evidence", args=[row.pk]))
    assert page.status_code == 410
    assert row.sha256 in text_of(page)
    assert "held personal data" in text_of(page)


def test_binary_evidence_is_offered_for_download_only(client, asha, now):
    incident = open_incident("node.unclassified", on=discovered("far-away", at=now), at=now)
    row = uploads.add_evidence(incident=incident, name="core", data=bytes(range(256)) * 40, by=asha, at=now)
    client.force_login(asha)
    assert "These are no lines of text" in text_of(client.get(reverse("evidence", args=[row.pk])))


@pytest.mark.parametrize(
    ("at", "first", "last"), [(1, 1, 151), (0, 1, 151), (500, 350, 650), (1000, 850, 1000), (9999, 850, 1000)]
)
def test_a_window_stays_inside_the_file(at, first, last):
    text = "\n".join(f"line {number}" for number in range(1, 1001)) + "\n"
    window = window_of(text, {}, at=at)
    assert (window.first, window.last, window.total) == (first, last, 1000)
    assert window.lines[0].text == f"line {first}"


def test_an_empty_file_has_an_empty_window():
    assert window_of("", {}, at=1).lines == ()


def test_the_page_of_an_incident_costs_the_same_for_few_runs_and_for_many(
    client, examined, asha, now, django_assert_max_num_queries
):
    client.force_login(asha)

    def cost():
        with django_assert_max_num_queries(80) as seen:
            assert client.get(examined.get_absolute_url()).status_code == 200
        return len(seen)

    few = cost()
    for number in range(12):
        log = QUIET + XID_79.replace("91:00", f"{number + 10:02x}:00")
        uploads.add_evidence(incident=examined, name=f"{number}.log", data=log.encode(), by=asha, at=now)
    work_off(at=now)
    assert Evidence.objects.count() > 12
    assert cost() == few
