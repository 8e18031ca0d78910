import hashlib

import pytest

from diagnostics.actions import evidence, uploads
from diagnostics.engine.parsers.detect import detect
from diagnostics.engine.parsers.text import PACKED, clean, decode, is_binary
from diagnostics.models import Evidence
from diagnostics.probes.redact import redact
from incidents.lib.errors import Invalid, NotAllowed, Refused
from incidents.models import HistoryIsFixed
from tests.diagnostics.conftest import QUIET

pytestmark = pytest.mark.django_db


@pytest.fixture
def give(here, asha, now):
    def give(data, name="dmesg.txt", **more):
        return uploads.add_evidence(**{"node": here, "name": name, "data": data, "by": asha, "at": now, **more})

    return give


def test_evidence_comes_back_as_it_was_given(give):
    row = give(QUIET.encode())
    assert evidence.read(row) == QUIET.encode()
    assert row.sha256 == hashlib.sha256(QUIET.encode()).hexdigest()
    assert (row.size, row.media) == (len(QUIET), "text/plain")


def test_evidence_lies_compressed_under_its_hash_for_its_owner_only(give, evidence_folder):
    row = give(QUIET.encode() * 1000)
    path = evidence_folder / row.sha256[:2] / f"{row.sha256[2:]}.zst"
    assert path.stat().st_size == row.stored_size < row.size / 10
    assert path.stat().st_mode & 0o077 == 0
    assert not list(evidence_folder.rglob(".*"))


def test_damaged_evidence_is_noticed(give, evidence_folder):
    row, other = give(b"one log"), give(b"two log")
    file = evidence_folder / row.path
    file.write_bytes((evidence_folder / other.path).read_bytes())
    with pytest.raises(evidence.Damaged, match=r"dmesg\.txt"):
        evidence.read(row)
    file.unlink()
    with pytest.raises(evidence.Damaged):
        evidence.read(row)


def test_evidence_given_again_mends_a_damaged_file(give, evidence_folder):
    row = give(b"one log")
    (evidence_folder / row.path).write_bytes(b"rubbish")
    give(b"one log")
    assert evidence.read(row) == b"one log"


def test_evidence_is_never_changed_or_deleted(give):
    row = give(b"one log")
    row.name = "another"
    for attempt in (row.save, row.delete, Evidence.objects.all().delete, lambda: Evidence.objects.update(name="x")):
        with pytest.raises(HistoryIsFixed):
            attempt()


def test_secrets_are_gone_before_the_hash_is_taken(give):
    row = give(b"export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\nNVRM: Xid (PCI:0000:91:00): 79\n")
    kept = evidence.read(row)
    assert b"abcdef" not in kept
    assert kept.endswith(b"NVRM: Xid (PCI:0000:91:00): 79\n")
    assert row.redactions >= 1
    assert hashlib.sha256(kept).hexdigest() == row.sha256


@pytest.mark.parametrize(
    "raw",
    [
        b"\0" * 16 + b"line one of a log after a power cut\npassword=hunter2222\n",
        "password=hunter2222\n".encode("utf-16"),
        "\ufefftoken: hunter2222\n".encode("utf-16-be"),
        b"the disk lost power here: \0\0pass\0word=hunt\0er2222\n",
        b"\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K=hunter2222\n",
        b"\0" * 5000 + b"password=hunter2222\n" + b"\0" * 5000,
    ],
)
def test_what_the_engine_reads_as_text_is_redacted_as_text(raw, give):
    row = give(raw)
    assert row.redactions == 1
    assert not is_binary(raw)
    assert "hunter2222" not in clean(decode(evidence.read(row)))


@pytest.mark.parametrize(
    "raw",
    [
        "usb 1-1: new device\n".encode("utf-16"),
        b"\xff\xfe" + bytes(range(256)) * 40 + b"password=hunter2222\n",
        b"usb 1-1:\0\0 new \x1b[31mdevice\x1b[m\n",
    ],
)
def test_what_holds_no_secret_or_is_no_text_is_kept_to_the_byte(raw):
    assert redact(raw) == (raw, 0)


def test_with_its_secrets_gone_every_line_keeps_its_number():
    raw = b"one\r\n\0\0password=hunter2222\r\n\x1b[31mthree\x1b[m\r\n"
    assert redact(raw) == (b"one\r\npassword=***\r\n\x1b[31mthree\x1b[m\r\n", 1)


@pytest.mark.parametrize("magic", PACKED)
def test_one_rule_says_what_is_no_text(magic):
    raw = magic + b"password=hunter2222\n" * 10
    assert redact(raw) == (raw, 0)
    assert detect(raw).kind == "unknown"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer ***"),
        ("password=hunter22 next", "password=*** next"),
        ('{"api_key": "0123456789"}', '{"api_key": "***"}'),
        ("redis://:s3cret@cache:6379/0", "redis://:***@cache:6379/0"),
        ("mail root@mail.example.com now", "mail *** now"),
        ("python /home/lin/train.py", "python /home/***/train.py"),
        ("key AKIAABCDEFGHIJKLMNOP", "key ***"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMII\nabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----***\n\n\n-----END RSA PRIVATE KEY-----",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nAAAABG5vbmUAAAAEbm9u\n$ dmesg\n[ 1.0] ok",
            "-----BEGIN OPENSSH PRIVATE KEY-----***\n\n\n$ dmesg\n[ 1.0] ok",
        ),
        ('password: "two words and more"', 'password: "***"'),
        ("ipmi.password = 'with a blank'", "ipmi.password = '***'"),
        ("Set-Cookie: SESSION=0123456789abcdef; Path=/; HttpOnly", "Set-Cookie: ***"),
        ("> Cookie: sessionid=0123456789", "> Cookie: ***"),
        ("X-Auth-Token: 0123456789abcdef", "X-Auth-Token: ***"),
        ("sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl ok", "sent *** ok"),
        ("snmp-server community s3cretword ro", "snmp-server community *** ro"),
        ("rocommunity s3cretword 192.0.2.0/24", "rocommunity *** 192.0.2.0/24"),
        ("snmpwalk -v2c -c s3cretword pdu-1", "snmpwalk -v2c -c *** pdu-1"),
        ('"auth": "dXNlcjpwYXNzd29yZA=="', '"auth": "***"'),
        ("client-key-data: LS0tLS1CRUdJTiBSU0E", "client-key-data: ***"),
        ("管理员密码：Sup3rS3cret", "管理员密码：***"),
        ("令牌=abcdef123456", "令牌=***"),
        ("export NGC=nvapi-0123456789abcdefghijkl", "export NGC=***"),
        ("slack xoxb-0123456789-abcdefghijkl", "slack ***"),
    ],
)
def test_a_secret_is_taken_out(text, expected):
    assert redact(text.encode())[0].decode() == expected


@pytest.mark.parametrize(
    "text",
    [
        "systemd[1]: Started getty@tty1.service - Getty on tty1.",
        "NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "max_tokens=8192 num_tokens: 4096",
        "a password was rejected for user 3 on channel 1",
        "密码错误，登录失败",
        "NVRM: GPU-00000000-0000-4000-8000-000000000001 serial 1650924060412",
        "BMC community edition 2.1",
        "expected -----BEGIN RSA PRIVATE KEY-----, found something else",
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "[ 12.1] Key type .fscrypt registered",
        "usb 1-1: New USB device found, idVendor=0bda, idProduct=9210, bcdDevice=20.01",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text.encode()) == (text.encode(), 0)


@pytest.mark.parametrize(
    "text",
    [
        b"a" * 5_000_000 + b"@" + b"token" * 1000,
        b"-----BEGIN RSA PRIVATE KEY-----" * 100_000,
        b"PRIVATE KEY-----" * 200_000,
        b'password="' * 300_000,
        b"snmpget " * 300_000,
    ],
)
def test_a_long_line_is_read_in_a_moment(text):
    """A pattern that is not linear would take hours."""
    assert redact(text)[0]


@pytest.mark.parametrize("data", [b"", b" \n\t"])
def test_an_empty_file_is_refused_with_words(give, data):
    with pytest.raises(Invalid, match="empty"):
        give(data)


def test_a_file_over_the_limit_is_refused_with_the_limit(give, settings):
    settings.EVIDENCE_UPLOAD_MAX_BYTES = 1024**2
    with pytest.raises(Invalid, match="1 MiB"):
        give(b"x" * (1024**2 + 1))
    assert not Evidence.objects.exists()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\logs\\a.txt", "a.txt"),
        ("", "evidence.txt"),
        ("a\r\nb", "ab"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_name_is_only_shown_and_never_a_path(given, shown):
    assert uploads.safe_name(given) == shown


def test_who_may_only_look_gives_no_evidence(give, vera):
    with pytest.raises(NotAllowed):
        give(b"log", by=vera)


def test_purged_evidence_leaves_its_row_and_hash(give, ben, asha, now, evidence_folder):
    row = give(b"one log")
    with pytest.raises(NotAllowed):
        evidence.purge(row, reason="names a person", by=asha, at=now)
    evidence.purge(row, reason="names a person", by=ben, at=now)
    row = Evidence.objects.get(pk=row.pk)
    assert row.purged_at == now
    assert not (evidence_folder / row.path).exists()
    with pytest.raises(Refused, match=row.sha256):
        evidence.read(row)


def test_bytes_that_another_row_shares_outlive_a_purge(give, ben, now):
    row, twin = give(b"one log"), give(b"one log")
    evidence.purge(row, reason="twice", by=ben, at=now)
    assert evidence.read(twin) == b"one log"
