"""An incident is opened, diagnosed, repaired and verified; the queue is played by hand."""

from datetime import timedelta

import pytest

from diagnostics import queries
from diagnostics.actions import findings, runs, uploads, verifying
from diagnostics.models import DiagnosticRun, Finding
from diagnostics.probes import kernel_log
from incidents.actions import causes, lifecycle, reactions
from incidents.domain.permissions import Role
from incidents.models import Reaction, RoleGrant, User
from tests.diagnostics.conftest import QUIET, XID_79
from tests.diagnostics.worker import work_off
from tests.incidents.factories import incident as open_incident
from tests.incidents.factories import node as discovered

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def kinds(incident):
    return [entry.kind for entry in incident.timeline.all()]


def repaired(incident, *, by, at):
    """Up to the moment at which the repair is to be proved."""
    lifecycle.acknowledge(incident, by=by, at=at)
    lifecycle.mitigate(incident, by=by, at=at)
    lifecycle.start_repair(incident, by=by, at=at)
    lifecycle.start_verifying(incident, by=by, at=at + MINUTE)


def test_an_opened_incident_is_examined_without_being_asked(here, recording, now):
    recording.say_kernel(QUIET + XID_79)
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    run = incident.runs.get()
    assert (run.purpose, run.state, run.requested_by_name) == ("triage", "finished", "Sickbay")
    assert {row.probe: row.outcome for row in run.probes.all()} == {
        "kernel_log": "findings",
        "nvml": "not_supported",
        "disk": "clean",
        "memory": "clean",
    }
    finding = run.findings.get(root=True)
    assert (finding.fault, finding.line, finding.line_number) == ("gpu.off_bus", XID_79.strip(), 3)
    assert finding.evidence.name == "kernel.log"
    assert "0000:91:00" in finding.component
    assert {"run_started", "run_finished"} <= set(kinds(incident))


def test_starting_again_returns_the_run_that_is_not_finished(here, asha, now):
    incident = open_incident(on=here, at=now)
    reactions.react(at=now)
    again = runs.start(incident=incident, purpose="triage", by=asha, at=now)
    assert again == incident.runs.get()
    assert kinds(incident).count("run_started") == 1


def test_a_node_without_a_way_to_it_gets_one_line_of_advice_and_no_run(db, asha, now):
    incident = open_incident("gpu.off_bus", on=discovered("far-away", at=now), at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    work_off(at=now + MINUTE)
    assert not incident.runs.exists()
    assert kinds(incident).count("no_transport") == 1


def test_a_repair_is_proved_by_a_clean_run(here, recording, asha, now):
    recording.say_kernel(QUIET + XID_79)
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    work_off(at=now + 2 * MINUTE)
    answer = incident.verifications.get()
    assert answer.passed, answer.reason
    assert answer.reference == f"run:{incident.runs.get(purpose='verify').pk}"
    lifecycle.restore(incident, by=asha, at=now + 3 * MINUTE)
    assert incident.state == "restored"


def test_what_was_printed_after_the_repair_disproves_it(here, recording, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    recording.say_kernel(QUIET + XID_79.replace("02:51:13", "23:59:59"))
    repaired(incident, by=asha, at=now)
    work_off(at=now + 2 * MINUTE)
    incident.refresh_from_db()
    answer = incident.verifications.get()
    assert not answer.passed
    assert "gpu.off_bus" in answer.reason
    assert incident.state == "repairing"


def test_a_kernel_log_that_cannot_be_read_proves_nothing(here, recording, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    recording.say_kernel("")
    repaired(incident, by=asha, at=now)
    work_off(at=now + 2 * MINUTE)
    incident.refresh_from_db()
    assert "could not be checked" in incident.timeline.get(kind="verification_unclear").text
    assert (incident.state, incident.verifications.exists()) == ("verifying", False)


FRESH = "2026-11-30T23:50:00+00:00 far-away kernel: usb 1-1: USB disconnect, device number 3\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (QUIET, "no line from after the repair"),
        (FRESH.replace("far-away", "other-host"), "other-host"),
        ("[   12.000001] usb 1-1: USB disconnect, device number 3\n", "no line from after the repair"),
    ],
)
def test_a_clean_log_of_another_time_or_host_proves_nothing_and_says_why(text, why, asha, now, db):
    incident = open_incident("gpu.off_bus", on=discovered("far-away", at=now), at=now)
    repaired(incident, by=asha, at=now)
    give(incident, text, by=asha, at=now + 2 * MINUTE)
    assert (incident.state, incident.verifications.exists()) == ("verifying", False)
    assert why in incident.timeline.get(kind="verification_unclear").text


def test_what_was_folded_under_another_root_still_disproves_a_repair(asha, now, db):
    incident = open_incident("gpu.nvlink.error", on=discovered("far-away", at=now), at=now)
    repaired(incident, by=asha, at=now)
    nvlink = "2026-11-30T23:59:59,9+00:00 NVRM: Xid (PCI:0000:91:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error\n"
    give(incident, FRESH + XID_79.replace("02:51:13", "23:59:59") + nvlink, by=asha, at=now + 2 * MINUTE)
    assert incident.verifications.get().passed is False


def test_a_run_that_sees_the_fault_folded_under_another_root_disproves_a_repair(here, recording, asha, now):
    incident = open_incident("gpu.nvlink.error", on=here, at=now)
    repaired(incident, by=asha, at=now)
    nvlink = "2026-11-30T23:59:59,9+00:00 NVRM: Xid (PCI:0000:91:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error\n"
    recording.say_kernel(QUIET + XID_79.replace("02:51:13", "23:59:59") + nvlink)
    work_off(at=now + 2 * MINUTE)
    run = incident.runs.get(purpose="verify")
    assert (run.findings.get(fault="gpu.nvlink.error").root, incident.verifications.get().passed) == (False, False)


@pytest.mark.parametrize(("newest", "passed"), [(QUIET, None), (XID_79.replace("02:51:13", "23:59:59"), False)])
def test_a_kernel_log_that_is_too_long_may_show_the_fault_but_never_a_repair(
    newest, passed, here, recording, asha, now, monkeypatch
):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    monkeypatch.setattr(kernel_log, "MAX_BYTES", 1000)
    recording.say_kernel(QUIET * 100 + newest)
    work_off(at=now + 2 * MINUTE)
    assert [answer.passed for answer in incident.verifications.all()] == ([] if passed is None else [passed])
    if passed is None:
        assert "oldest lines are missing" in incident.timeline.get(kind="verification_unclear").text


def test_a_service_account_that_gives_the_log_is_answered_too(now, asha, db):
    bot = User.objects.create_user("bot", is_service=True)
    RoleGrant.objects.create(user=bot, role=Role.SERVICE)
    incident = open_incident("gpu.off_bus", on=discovered("far-away", at=now), at=now)
    repaired(incident, by=asha, at=now)
    give(incident, FRESH, by=bot, at=now + 2 * MINUTE)
    answer = incident.verifications.get()
    assert (answer.passed, answer.by) == (True, None)
    assert "given by bot" in answer.reason


@pytest.mark.parametrize(("printed", "passed"), [(QUIET, True), (XID_79.replace("02:51:13", "23:59:59"), False)])
def test_a_service_account_that_asks_for_the_proof_is_answered_and_named(printed, passed, here, recording, asha, now):
    bot = User.objects.create_user("bot", is_service=True)
    RoleGrant.objects.create(user=bot, role=Role.SERVICE)
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    recording.say_kernel(QUIET + printed)
    verifying.verify(incident, by=bot, at=now + MINUTE)
    work_off(at=now + 2 * MINUTE)
    answer = incident.verifications.get()
    assert (answer.passed, answer.by) == (passed, None)
    assert answer.reason.endswith("Asked by bot.")
    assert not Reaction.objects.filter(done_at=None).exists()


def test_a_run_from_before_verifying_proves_nothing(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    reactions.react(at=now + MINUTE)
    DiagnosticRun.objects.filter(purpose="verify").update(created_at=now)
    work_off(at=now + 2 * MINUTE)
    assert not incident.verifications.exists()


def test_a_failure_of_a_treatment_that_has_ended_does_not_date_the_next_repair(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    repaired(incident, by=asha, at=now)
    lifecycle.record_verification(incident, kind="probe", passed=False, reason="no", by=asha, at=now + MINUTE)
    lifecycle.start_verifying(incident, by=asha, at=now + 2 * MINUTE)
    lifecycle.record_verification(incident, kind="probe", passed=True, reason="ok", by=asha, at=now + 3 * MINUTE)
    lifecycle.restore(incident, by=asha, at=now + 4 * MINUTE)
    later = now + 200 * MINUTE
    lifecycle.reopen(incident, by=asha, at=later)
    lifecycle.acknowledge(incident, by=asha, at=later)
    lifecycle.start_verifying(incident, by=asha, at=later + MINUTE)
    assert verifying.repair_began_at(incident) == later + MINUTE


def test_of_two_failures_only_that_after_the_reopening_dates_the_repair(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    repaired(incident, by=asha, at=now)
    lifecycle.record_verification(incident, kind="probe", passed=True, reason="ok", by=asha, at=now + 2 * MINUTE)
    lifecycle.restore(incident, by=asha, at=now + 3 * MINUTE)
    later = now + 200 * MINUTE
    lifecycle.reopen(incident, by=asha, at=later)
    repaired(incident, by=asha, at=later)
    assert verifying.repair_began_at(incident) == later
    lifecycle.record_verification(incident, kind="probe", passed=False, reason="no", by=asha, at=later + 5 * MINUTE)
    lifecycle.start_verifying(incident, by=asha, at=later + 6 * MINUTE)
    assert verifying.repair_began_at(incident) == later + 5 * MINUTE


def give(incident, text, *, by, at):
    uploads.add_evidence(incident=incident, name="fresh.log", data=text.encode(), by=by, at=at)
    work_off(at=at + MINUTE)
    incident.refresh_from_db()


def test_where_no_run_can_check_a_fresh_log_given_by_somebody_proves_the_repair(asha, now, db):
    incident = open_incident("gpu.off_bus", on=discovered("far-away", at=now), at=now)
    repaired(incident, by=asha, at=now)
    # Old lines of the same boot do not count against it.
    give(incident, QUIET + XID_79 + FRESH, by=asha, at=now + 2 * MINUTE)
    answer = incident.verifications.get()
    assert (answer.passed, incident.state) == (True, "verifying")
    assert "fresh.log" in answer.reason
    assert "given by Asha" in answer.reason
    lifecycle.restore(incident, by=asha, at=now + 4 * MINUTE)


def test_a_fresh_log_that_shows_the_fault_disproves_the_repair(asha, now, db):
    incident = open_incident("gpu.off_bus", on=discovered("far-away", at=now), at=now)
    repaired(incident, by=asha, at=now)
    give(incident, QUIET + XID_79.replace("02:51:13", "23:59:59"), by=asha, at=now + 2 * MINUTE)
    assert (incident.state, incident.verifications.get().passed) == ("repairing", False)


def test_a_file_that_does_not_speak_of_the_fault_proves_nothing(asha, now, db):
    incident = open_incident("gpu.off_bus", on=discovered("far-away", at=now), at=now)
    repaired(incident, by=asha, at=now)
    give(incident, "shopping list: apples, pears", by=asha, at=now + 2 * MINUTE)
    assert (incident.state, incident.verifications.exists()) == ("verifying", False)
    assert incident.timeline.filter(kind="verification_unclear").count() == 1


def test_a_second_try_at_verifying_gets_a_run_of_its_own(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    reactions.react(at=now + MINUTE)  # the run is there, nobody has taken it
    first = incident.runs.get(purpose="verify")
    lifecycle.record_verification(incident, kind="by_person", passed=False, reason="not yet", by=asha, at=now + MINUTE)
    lifecycle.start_verifying(incident, by=asha, at=now + 3 * MINUTE)
    work_off(at=now + 4 * MINUTE)
    first.refresh_from_db()
    assert first.state == "cancelled"
    second = incident.runs.exclude(pk=first.pk).get(purpose="verify")
    assert incident.verifications.get(reference=f"run:{second.pk}").passed


def test_an_uploaded_log_is_judged_and_its_finding_becomes_the_cause(here, asha, now):
    incident = open_incident("node.unclassified", on=here, at=now)
    work_off(at=now)
    uploads.add_evidence(incident=incident, name="C:\\logs\\dmesg.txt", data=(QUIET + XID_79).encode(), by=asha, at=now)
    work_off(at=now + MINUTE)
    finding = queries.findings_of(incident).first()
    assert (finding.fault, finding.evidence.name, finding.run.purpose) == ("gpu.off_bus", "dmesg.txt", "upload")
    findings.confirm(finding, by=asha, at=now + MINUTE)
    incident.refresh_from_db()
    assert (incident.cause, incident.fault, incident.family) == ("gpu.off_bus", "gpu.off_bus", "gpu.presence")


def test_where_a_run_can_check_an_upload_does_not_prove_the_repair(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    work_off(at=now)
    repaired(incident, by=asha, at=now)
    uploads.add_evidence(incident=incident, name="dmesg.txt", data=QUIET.encode(), by=asha, at=now + MINUTE)
    work_off(at=now + 2 * MINUTE)
    assert [answer.reference for answer in incident.verifications.all()] == [
        f"run:{incident.runs.get(purpose='verify').pk}"
    ]


def test_findings_of_a_merged_incident_show_on_the_one_that_took_it_in(here, asha, now):
    old = open_incident("gpu.off_bus", on=here, at=now)
    young = open_incident("host.pcie.fatal", on=here, at=now)
    work_off(at=now)
    uploads.add_evidence(incident=young, name="dmesg.txt", data=XID_79.encode(), by=asha, at=now)
    work_off(at=now)
    causes.merge(young, into=old, reason="the same GPU", by=asha, at=now)
    assert Finding.objects.get(root=True) in queries.findings_of(old)
    third = open_incident("os.disk_full", on=here, at=now)
    causes.merge(old, into=third, reason="the same again", by=asha, at=now)
    assert Finding.objects.get(root=True) in queries.findings_of(third)
    assert DiagnosticRun.objects.filter(incident=young).count() == 2
