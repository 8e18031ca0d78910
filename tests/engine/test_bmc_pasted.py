"""What people paste of BMC tools: blocks instead of tables, pieces of documents, agents' lines, names that tell whose silence it is."""

import pytest

from diagnostics.engine.diagnose import diagnose
from diagnostics.engine.parsers import ipmi_blocks, ipmi_sel, json_fragment
from diagnostics.engine.types import Diagnosis, Part


def _read(text: str) -> Diagnosis:
    return diagnose([Part("paste.txt", text.encode())], path="paste.txt")


def _roots(text: str) -> set[tuple[str, str | None]]:
    return {(finding.fault, finding.component) for finding in _read(text).findings if finding.root}


SUPPLY = """\
Sensor ID              : PSU2 Status (0x78)
 Entity ID             : 10.2 (Power Supply)
 Sensor Type (Discrete): Power Supply (0x08)
 Sensor Reading        : 0h
 States Asserted       : Power Supply
                         [Presence detected]
                         [Power Supply AC lost]
 Assertions Enabled    : Power Supply
                         [Presence detected]
                         [Failure detected]
"""
FAN = """\
Sensor ID              : FAN3 (0x43)
 Entity ID             : 29.3
 Sensor Type (Threshold)  : Fan
 Sensor Reading        : 0 (+/- 0) RPM
 Status                : Lower Non-Recoverable
 Lower Non-Recoverable : 300.000
 Lower Critical        : 500.000
"""
HEALTHY_SENSORS = """\
Sensor ID              : FAN3 (0x43)
 Sensor Type (Threshold)  : Fan
 Sensor Reading        : 4300 (+/- 0) RPM
 Status                : ok
 Lower Non-Recoverable : 300.000
Sensor ID              : PS Redundancy (0x77)
 Sensor Type (Discrete): Power Supply (0x08)
 States Asserted       : Redundancy State
                         [Fully Redundant]
 Assertions Enabled    : Redundancy State
                         [Redundancy Lost]
Sensor ID              : Inlet Temp (0x5)
 Sensor Type (Threshold)  : Temperature
 Sensor Reading        : Not Present
 Status                : Not Available
"""
OMREPORT = """\
Power Supplies Information

Power Supply Redundancy
Redundancy Status : Lost

Individual Power Supply Elements
Index                    : 0
Status                   : Ok
Location                 : PS1 Status
Online Status            : Presence Detected

Index                    : 1
Status                   : Critical
Location                 : PS2 Status
Online Status            : Presence Detected, Failure Detected, AC lost
"""
HPASMCLI = """\
hpasmcli> show powersupply
Power supply #1
        Present  : Yes
        Condition: Ok
Power supply #2
        Present  : Yes
        Condition: FAILED
"""
RACADM = """\
Sensor Type : POWER
<Sensor Name>                 <Status>         <Type>
PS1 Status                    Present          AC
PS2 Status                    Input Lost       AC
Sensor Type : FAN
<Sensor Name>                 <Status>   <Reading>    <lc>       <uc>       <PWM %>
System Board Fan1A            Ok         5280RPM      600RPM     NA         23%
"""


@pytest.mark.parametrize(
    ("text", "fault", "component"),
    [
        (SUPPLY, "host.psu.failed", "PSU2 Status"),
        (FAN, "host.fan.failed", "FAN3"),
        (OMREPORT, "host.psu.failed", "PS2 Status"),
        (HPASMCLI, "host.psu.failed", "Power supply #2"),
        (RACADM, "host.psu.failed", "PS2 Status"),
    ],
)
def test_a_block_names_its_fault_and_part(text: str, fault: str, component: str) -> None:
    assert _roots(text) == {(fault, component)}


@pytest.mark.parametrize(
    "text",
    [
        HEALTHY_SENSORS,
        OMREPORT.replace("Critical", "Ok").replace("Lost", "Full").replace(", Failure Detected, AC lost", ""),
        HPASMCLI.replace("FAILED", "Ok"),
        HPASMCLI.replace("FAILED", "Not Present"),
        RACADM.replace("Input Lost", "Present"),
        RACADM.replace("Input Lost", "Absent"),
    ],
)
def test_healthy_blocks_are_silent(text: str) -> None:
    assert _roots(text) == set()


def test_blocks_survive_a_cut() -> None:
    for end in range(0, len(OMREPORT), 7):
        ipmi_blocks.sensors(OMREPORT[:end])


def test_the_direction_at_the_end_of_the_event() -> None:
    rows = (
        "14,2024/05/04 07:09:16,FANB            ,Fan,Lower Critical - Going Low - De-assertion\n"
        "15,2024/05/04 07:09:29,FANB            ,Fan,Lower Critical - Going Low - Assertion\n"
    )
    assert [event.is_asserted for event in ipmi_sel.events(rows)] == [False, True]
    assert _roots(rows) == {("host.fan.failed", "FANB")}
    assert _roots("\n".join(reversed(rows.replace("14,", "16,").splitlines()))) == set()


def test_a_status_with_the_entries_in_brackets() -> None:
    text = (
        "IPMI Status: Critical [2 system event log (SEL) entries present - details: "
        "(PS1 Status = Critical, Power Supply, Power Supply Failure detected), "
        "(PS1 Status = Critical, Power Supply, Power Supply Failure detected)]"
    )
    assert _roots(text) == {("host.psu.failed", "PS1 Status")}


def test_an_export_without_its_head() -> None:
    row = 'Critical,Environment,11/03/2026 10:12,11/03/2026 10:12,1,"Power Supply 2 failure"'
    assert {fault for fault, _ in _roots(row)} == {"host.psu.failed"}
    assert _roots(row.replace("Critical", "Repaired")) == set()


def test_a_record_of_racadm() -> None:
    record = (
        "SeqNumber       = 4210\nMessage ID      = PSU0003\nSeverity        = Critical\n"
        "Timestamp       = 2026-11-03 10:12:21\nMessage         = The power input for power supply 2 is lost.\n"
    )
    assert {fault for fault, _ in _roots(record)} == {"host.psu.failed"}
    assert _roots(record.replace("Critical", "Informational")) == set()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"Events": [\n {"MessageId": "X"}\n],\nand so on', {"Events": [{"MessageId": "X"}]}),
        ('{"a": [1, {"b": "x","c":', {"a": [1, {"b": "x"}]}),
        ('  "Status": {\n "Health": "OK"\n },\n', {"Status": {"Health": "OK"}}),
        ('{\n ***@***.***": "/redfish/v1",\n "Id": "1"\n}', {"hidden": "/redfish/v1", "Id": "1"}),
        ("words only", None),
        ("{" * 500, None),
    ],
)
def test_a_piece_of_a_document(text: str, value: object) -> None:
    assert json_fragment.parse(text) == value


def test_a_piece_of_an_event() -> None:
    text = """
"Events": [
   {
     "EventTimestamp": "2026-11-03T10:12:21Z",
     "Message": "Power supply 2 failed.",
     "MessageId": "IDRAC.2.9.PSU0001",
     "Severity": "Critical"
   }
 ],
"""
    assert {fault for fault, _ in _roots(text)} == {"host.psu.failed"}
    assert _roots(text.replace("Critical", "OK")) == set()


def test_the_entries_of_the_older_rest_interface() -> None:
    text = """{"data": {"/xyz/openbmc_project/logging/entry/7": {"Id": 7, "Resolved": 0,
 "Message": "xyz.openbmc_project.Power.Fault.Error.PowerSupplyInputFault",
 "Severity": "xyz.openbmc_project.Logging.Entry.Level.Error"}}, "message": "200 OK", "status": "ok"}"""
    assert {fault for fault, _ in _roots(text)} == {"host.psu.failed"}
    assert _roots(text.replace('"Resolved": 0', '"Resolved": 1')) == set()


def test_only_log_ins_under_a_shared_name_are_asked_after() -> None:
    entry = '{"@odata.type": "#LogEntry.v1_19_0.LogEntry", "Id": "7", "Severity": "OK", "Message": "%s"}'
    shared = entry % "Successfully logged in using root, from 192.0.2.9 and GUI."
    assert {fault for fault, _ in _roots(shared)} == {"bmc.audit_event"}
    assert _roots(shared.replace("root", "svc-monitor")) == set()
    assert _roots(shared.replace("GUI", "REDFISH")) == set()  # a program that polls
    assert _roots(f"[{shared}, {entry % 'The server is powered on.'}]") == set()


def test_a_refusal_in_the_words_of_the_vendor() -> None:
    text = """{"error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.8.SYS499",
 "Message": "%s"}]}}"""
    assert {fault for fault, _ in _roots(text % "The login credentials are invalid.")} == {"bmc.auth_failed"}
    assert _roots(text % "The attribute value is invalid.") == set()


@pytest.mark.parametrize(
    ("host", "fault"),
    [
        ("gn-7-bmc", "bmc.unreachable"), ("gn7-ipmi.example.org", "bmc.unreachable"), ("idrac-gn7", "bmc.unreachable"),
        ("gn-7", "host.unreachable"), ("pilot-7", "host.unreachable"),
    ],
)  # fmt: skip
def test_whose_silence_it_is(host: str, fault: str) -> None:
    assert _roots(f"ssh: connect to host {host} port 22: No route to host") == {(fault, host)}
    ping = (
        f"PING {host} (192.0.2.7) 56(84) bytes of data.\n\n--- {host} ping statistics ---\n"
        "4 packets transmitted, 0 received, 100% packet loss, time 3051ms\n"
    )
    assert _roots(ping) == {(fault, host)}


def test_a_slot_of_memory_without_the_word_dimm() -> None:
    row = "  3a | 11/14/2026 | 23:09:44 | Memory #0x88 | Uncorrectable ECC (CPU1_B2) | Asserted"
    assert _roots(row) == {("host.memory.uncorrectable", "CPU1_B2")}
