import json
from datetime import UTC, datetime, timedelta

import pytest

from diagnostics.engine.parsers import log_line

MESSAGE = "nvme nvme1: I/O 9 QID 3 timeout, aborting"
AT = datetime(2026, 2, 24, 10, 58, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "prefix",
    [
        "[ 6781.548768] ",
        "[    0.000000] ",
        "[ 6781.548768][ T1234] ",
        "[ 6781.548768] [   C12] ",
        "<4>[ 6781.548768] ",
        "[Tue Feb 24 10:58:12 2026] ",
        "[  +0.000844] ",
        "kern  :warn  : [ 6781.548768] ",
        "kern  :err   : 2026-02-24T10:58:12,285060+00:00 ",
        "4,3973,227996636,-;",
        "4,3973,227996636,-,caller=T12;",
        "2026-02-24T10:58:12,285060+00:00 ",
        "Feb 24 10:58:12 gn-7 kernel: ",
        "Feb 24 10:58:12 gn-7 kernel: [ 2410.027903] ",
        "Feb  4 10:58:12 kernel: ",
        "Feb 24 10:58:12 -node-07 kernel: [ 2410.027903] ",
        "Feb 24 10:58:12 <host> kernel: ",
        '>>>    "[ 6781.548768] ',
        "Feb 24 10:58:12.050705 gn-7 kernel: ",
        "Feb 24 2026 10:58:12 gn-7 kernel: ",
        "2026-02-24T10:58:12+0000 gn-7 kernel: ",
        "2026-02-24T10:58:12.123456+00:00 gn-7 kernel: [2410.027903] ",
        "Tue 2026-02-24 10:58:12 UTC gn-7 kernel: ",
        "1771930692.123456 gn-7 kernel: ",
        "[ 2410.027903] gn-7 kernel: ",
        "<4>1 2026-02-24T10:58:12.5Z gn-7 kernel - - - ",
        '<4>1 2026-02-24T10:58:12Z gn-7 kernel - - [meta a="b"] [ 2410.027903] ',
        "kernel: ",
        "gn-7 kernel: ",
        "[Tue Feb 24 10:58:12 2026] gn-7 kernel: ",
        "[Feb24 10:58] ",
        "2月 24 10:58:12 gn-7 kernel: ",
        "[二 2月 24 10:58:12 2026] ",
        "2026年02月24日 10:58:12 gn-7 kernel: ",
        "févr. 24 10:58:12 gn-7 kernel: ",
        "Tue 2026-02-24 10:58:12 CET gn-7 kernel: ",
        "2026-02-24T10:58:12.123Z cpu12:2097)",
        "2026-02-24T10:58:12.123Z In(182) vmkernel: cpu3:2098 opID=1c)",
        "gn-7: [ 6781.548768] ",
        "gn-7: Feb 24 10:58:12 gn-7 kernel: ",
        "118:Feb 24 10:58:12 gn-7 kernel: ",
        "/var/log/kern.log:Feb 24 10:58:12 gn-7 kernel: ",
        "kern.log.1:118:[ 6781.548768] ",
        "> [ 6781.548768] ",
        "Feb 24 10:58:12 gn-7 conlog[77]: UART: [ 6781.548768] ",
        "  118 [ 6781.548768] ",
        "Feb 24 10:58:12 [alert] kernel: [ 2410.027903] ",
        "Feb 24 10:58:12 gn-7 kern.warn kernel: [ 2410.027903] ",
    ],
)
def test_every_usual_prefix_of_the_kernel_is_taken_off(prefix: str):
    line = log_line.parse(prefix + MESSAGE + "\r\n", number=1)
    assert (line.message, line.kernel) == (MESSAGE, True)


@pytest.mark.parametrize(
    "prefix",
    [
        "Feb 24 10:58:12 gn-7 agent[99]: ",
        "2026-02-24T10:58:12+0000 gn-7 agent[99]: ",
        "<14>1 2026-02-24T10:58:12Z gn-7 agent 99 - - ",
        "[ 9.1] agent[99]: ",
    ],
)
def test_another_program_is_not_the_kernel(prefix: str):
    line = log_line.parse(prefix + MESSAGE, number=1)
    assert (line.message, line.kernel, line.tag) == (MESSAGE, False, "agent")


def test_a_line_without_prefix_has_an_unknown_speaker():
    line = log_line.parse("   " + MESSAGE, number=1)
    assert (line.message, line.kernel, line.prefixed) == (MESSAGE, None, False)


@pytest.mark.parametrize("text", [f"2026-02-24 10:58:12 {MESSAGE}", f"Feb 24 10:58:12 {MESSAGE}"])
def test_a_driver_is_not_mistaken_for_a_host(text: str):
    assert log_line.parse(text, number=1).message == MESSAGE


def test_a_journal_entry_tells_time_host_boot_and_speaker():
    raw = (
        '{"MESSAGE":"hello","_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1771930692000000","_HOSTNAME":"gn-7","_BOOT_ID":"b1",'
        '"SYSLOG_IDENTIFIER":"kernel"}'
    )
    line = log_line.parse(raw, number=4)
    assert (line.message, line.kernel, line.host, line.boot, line.moment.at) == ("hello", True, "gn-7", "b1", AT)


def test_a_journal_message_of_bytes_is_read():
    line = log_line.parse('{"MESSAGE":[27,91,51,49,109,104,105],"_TRANSPORT":"kernel"}', number=1)
    assert line.message == "hi"


@pytest.mark.parametrize(
    "text",
    ["[Tue Feb 24 10:58:12 2026] x", "2026-02-24T10:58:12+00:00 gn-7 kernel: x", "2026-02-24T18:58:12+08:00 gn-7 kernel: x",
     "Tue 2026-02-24 10:58:12 UTC gn-7 kernel: x"],
)  # fmt: skip
def test_dates_become_moments(text: str):
    assert log_line.parse(text, number=1).moment.at == AT


def test_a_stamp_without_zone_or_year_says_so():
    assert not log_line.parse("[Tue Feb 24 10:58:12 2026] x", number=1).moment.zoned
    assert not log_line.parse("Feb 24 10:58:12 gn-7 kernel: x", number=1).moment.has_year


@pytest.mark.parametrize("text", ["[Tue Feb 31 10:58:12 2026] x", "Feb 24 29:58:12 gn-7 kernel: x"])
def test_a_date_that_no_calendar_has_gives_no_moment(text: str):
    assert log_line.parse(text, number=1).moment.at is None


def test_colours_and_nuls_are_taken_off():
    assert log_line.parse("\x1b[33m[  1.000000]\x1b[0m \x1b[1mhello\0\x1b[0m", number=1).message == "hello"


@pytest.mark.parametrize(
    ("entry", "kernel", "host"),
    [
        (
            {"log": f"Feb 24 10:58:12 gn-7 kernel: {MESSAGE}\n", "stream": "stderr", "time": "2026-02-24T10:58:13Z"},
            True,
            "gn-7",
        ),
        (
            {
                "@timestamp": "2026-02-24T10:58:12Z",
                "message": MESSAGE,
                "host": {"name": "gn-7"},
                "process": {"name": "kernel"},
            },
            True,
            "gn-7",
        ),
        (
            {"message": MESSAGE, "hostname": "gn-7", "facility": "kern", "timestamp": "2026-02-24T10:58:12+00:00"},
            True,
            "gn-7",
        ),
        ({"level": "error", "ts": 1771930692.5, "msg": MESSAGE, "caller": "gpu/watch.go:12"}, False, None),
        ({"jsonPayload": {"message": MESSAGE}, "timestamp": "2026-02-24T10:58:12Z"}, None, None),
    ],
)
def test_json_of_collectors_and_loggers_is_read_through(
    entry: dict[str, object], kernel: bool | None, host: str | None
):
    line = log_line.parse(json.dumps(entry), number=1)
    assert (line.message, line.kernel, line.host) == (MESSAGE, kernel, host)
    assert line.moment.at
    assert abs(line.moment.at - AT) < timedelta(seconds=2)


def test_klog_and_logfmt_are_programs_with_their_time():
    klog = log_line.parse(f"E0224 10:58:12.123456    1234 watch.go:12] {MESSAGE}", number=1)
    assert (klog.message, klog.kernel, klog.moment.has_year) == (MESSAGE, False, False)
    logfmt = log_line.parse(f'time="2026-02-24T10:58:12Z" level=error msg="{MESSAGE}"', number=1)
    assert (logfmt.kernel, logfmt.moment.at) == (False, AT)


def test_the_letters_of_a_zone_count_only_if_no_other_zone_has_them():
    assert log_line.parse(f"Tue 2026-02-24 11:58:12 CET gn-7 kernel: {MESSAGE}", number=1).moment.at == AT
    assert not log_line.parse(f"Tue 2026-02-24 11:58:12 CST gn-7 kernel: {MESSAGE}", number=1).moment.zoned
