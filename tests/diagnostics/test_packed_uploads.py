"""Packed logs and archives that a person gives: kept as text, judged like any other."""

import gzip
import io
import tarfile
import tempfile
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from diagnostics.actions import evidence, judging, uploads
from diagnostics.models import Finding
from incidents.lib.errors import Invalid, Unavailable
from tests.incidents.factories import incident as open_incident

pytestmark = pytest.mark.django_db
XID = b"[ 812.001234] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
SECRET = b"[ 813.000000] agent: password=hunter2hunter2\n"


@pytest.fixture
def give(here, asha, now, settings, tmp_path):
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "evidence"}},
    }
    return lambda data, name="node.log.gz": uploads.add_evidence(node=here, name=name, data=data, by=asha, at=now)


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def tarred(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def test_a_packed_log_is_kept_as_text_without_its_secrets_and_judged(give, now):
    row = give(gzip.compress(SECRET + XID))
    assert (row.name, row.media) == ("node.log.gz", "text/plain")
    assert b"hunter2" not in evidence.read(row)
    judging.judge(row.run_id, at=now)
    assert [(one.fault, one.line_number) for one in Finding.objects.filter(run=row.run, root=True)] == [
        ("gpu.off_bus", 2)
    ]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_each_text_of_an_archive_becomes_evidence_of_one_run_and_its_names_lead_nowhere(give, pack):
    row = give(
        pack(**{"../../etc/kern.log": XID, "b/quiet.log": b"fine\n", "core.bin": bytes(range(32)) * 50}), "report"
    )
    names = sorted(row.run.evidence.values_list("name", flat=True))
    assert names == ["report/b/quiet.log", "report/etc/kern.log"]


def test_what_is_no_text_is_named_among_what_is_lacking(give):
    row = give(zipped(**{"kern.log": XID, "core.bin": bytes(range(32)) * 50}))
    assert "left out as no text: core.bin" in row.run.probes.get().reason


def test_an_encrypted_file_is_named_and_hides_none_of_the_others(give):
    data = bytearray(zipped(**{"a.log": b"secret", "kern.log": XID}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    row = give(bytes(data))
    assert evidence.read(row) == XID
    reason = row.run.probes.get().reason
    assert "a.log: " in reason
    assert "encrypted" in reason


def test_an_archive_is_one_entry_of_the_timeline(here, asha, now):
    incident = open_incident("gpu.off_bus", on=here, at=now)
    data = zipped(**{f"{n}.log": b"[ %d.1] usb 1-1: new device\n" % n for n in range(30)})
    uploads.add_evidence(incident=incident, name="report.zip", data=data, by=asha, at=now)
    told = incident.timeline.filter(kind__in=("evidence_added", "archive_added"))
    assert [(one.kind, one.data["name"], one.data["files"]) for one in told] == [("archive_added", "report.zip", 30)]


def refuse(*args, **options):
    raise OSError(28, "No space left on device")


def test_a_full_temporary_folder_refuses_an_archive_for_the_moment_only(give, monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(Unavailable, match=r"No space left on device.*Try again"):
        give(gzip.compress(XID))


def test_a_full_temporary_folder_costs_no_attempt_to_judge(give, now, monkeypatch):
    row = give(XID, "kern.log")
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryFile", refuse)
        for minute in range(2 * judging.MAX_ATTEMPTS):
            with pytest.raises(Unavailable, match="tried again"):
                judging.judge(row.run_id, at=now + timedelta(minutes=2 * minute))
    assert judging.judge(row.run_id, at=now + timedelta(hours=1))
    assert Finding.objects.get(run=row.run, root=True).fault == "gpu.off_bus"


def test_numbers_and_moments_that_no_database_takes_lose_no_finding(give, now, monkeypatch):
    row = give(XID, "kern.log")
    honest = judging.diagnose_limited

    def odd(*args, **options):
        found = honest(*args, **options)
        wild = replace(found.findings[0], count=2**70, line_number=2**40, first_at=datetime(9999, 12, 31, tzinfo=UTC))
        return replace(found, findings=(wild,))

    monkeypatch.setattr(judging, "diagnose_limited", odd)
    judging.judge(row.run_id, at=now)
    kept = Finding.objects.get(run=row.run)
    assert (kept.count, kept.line_number, kept.first_at) == (judging.MOST, judging.MOST, None)


def test_two_files_that_come_to_one_name_are_both_judged(give, now):
    row = give(zipped(**{"../x/kern.log": XID, "x/kern.log": b"[ 100.1] usb 1-1: new device\n"}), "d.zip")
    assert row.run.evidence.values("name").distinct().count() == 2
    judging.judge(row.run_id, at=now)
    assert Finding.objects.filter(run=row.run, root=True, fault="gpu.off_bus").count() == 1


def test_of_a_cut_file_what_came_before_the_damage_is_kept_and_the_rest_is_named(give):
    row = give(gzip.compress(XID * 5_000 + bytes(str(range(9_000)), "ascii"))[:-40])
    assert evidence.read(row).startswith(XID)
    assert "broken" in row.run.probes.get().reason


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04 no archive at all", "broken"),
        (zipped(**{"a.bin": bytes(range(32)) * 50}), "no text"),
        (gzip.compress(b"\0" * (300 << 20)), "more than"),
    ],
    ids=["broken", "binary", "bomb"],
)
def test_what_cannot_be_unpacked_is_refused_with_words(give, data, words, settings):
    settings.EVIDENCE_UPLOAD_MAX_BYTES = 8 << 20
    with pytest.raises(Invalid, match=words):
        give(data)


@pytest.mark.parametrize(
    "command",
    [
        "ipmitool -I lanplus -H bmc-7 -U admin -P calvin99 sel list",
        "curl -k -u root:calvin99 https://bmc-7/redfish/v1",
        "sshpass -p calvin99 ssh n1",
    ],
)
def test_passwords_on_command_lines_are_not_kept(give, command):
    assert b"calvin99" not in evidence.read(give(gzip.compress(f"$ {command}\nok\n".encode())))
