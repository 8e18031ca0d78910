"""The BMC's event log in all its layouts, and what stands in it."""

from datetime import UTC, datetime

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots


def sel(*rows: str) -> str:
    return "".join(f"  {n:x} | 03/01/2026 | 10:02:{n:02d} | {row}\n" for n, row in enumerate(rows, 1))


@pytest.mark.parametrize(
    ("row", "fault", "component"),
    [
        ("Memory | Uncorrectable ECC (@DIMMG1(CPU1)) | Asserted", "host.memory.uncorrectable", "DIMMG1"),
        ("Memory #0xe2 | Correctable ECC | Asserted | CPU 0 DIMM 3", "host.memory.correctable", "CPU 0 DIMM 3"),
        ("Processor CATERR | State Asserted | Asserted", "host.cpu.mce", "CATERR"),
        ("Processor P1 Status | Thermal Trip | Asserted", "host.temp.critical", "P1 Status"),
        ("Temperature GPU7 Temp | Upper Critical going high | Asserted", "gpu.thermal.shutdown", "GPU7 Temp"),
        ("Temperature Inlet | Upper Non-critical going high | Asserted", "host.temp.critical", "Inlet"),
        ("Temperature CPU0_PROCHOT | State Asserted | Asserted", "host.cpu.thermal", "CPU0_PROCHOT"),
        ("Drive Slot / Bay Drive 4 | Drive Fault | Asserted", "host.disk.failing", "Drive 4"),
        ("Watchdog2 #0x03 | Hard reset | Asserted", "host.reboot_unexpected", "#0x03"),
        ("OS Critical Stop #0x46 | Run-time critical stop | Asserted", "os.kernel_panic", "#0x46"),
        ("Management Subsystem Health BMC | Sensor access degraded or unavailable | Asserted", "bmc.sensor_gap", "BMC"),
        ("Battery CMOS Battery | Failed | Asserted", "host.board.fault", "CMOS Battery"),
        ("Power Unit #0x01 | AC lost | Asserted", "host.power.lost", "#0x01"),
        ("Power Unit PSU Redundancy | Redundancy Lost | Asserted", "host.psu.failed", "PSU Redundancy"),
        ("Power Supply PSU 2 | Predictive failure | Asserted", "host.psu.failed", "PSU 2"),
        ("Voltage PSU1_VIN | Lower Critical going low | Asserted", "host.psu.failed", "PSU1_VIN"),
        ("Critical Interrupt PCIE | PCI SERR | Asserted", "host.pcie.fatal", "PCIE"),
        ("Fan FAN_3B | Transition to Non-recoverable | Asserted", "host.fan.failed", "FAN_3B"),
        ("System Firmwares #0x06 | No usable system memory | Asserted", "host.memory.uncorrectable", "#0x06"),
        ("Module / Board PDB | Transition to Critical from less severe | Asserted", "host.board.fault", "PDB"),
        ("Platform Security #0x1 | Out-of-band access password violation | Asserted", "bmc.audit_event", "#0x1"),
        ("Leak Leak_Detect_1 | State Asserted | Asserted", "facility.leak", "Leak Leak_Detect_1"),
    ],
)
def test_an_event_that_stands(row: str, fault: str, component: str):
    finding = assert_finds(fault, sel(row))
    assert finding.component == component
    assert finding.first_at == datetime(2026, 3, 1, 10, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "rows",
    [
        ("Power Unit Pwr Unit Status | Power off/down | Asserted",),
        ("Drive Slot / Bay #0x91 | Rebuild/Remap in progress | Asserted",),
        ("Critical Interrupt NMI | NMI/Diag Interrupt | Asserted",),
        ("Session Audit #0x1 | Invalid Username or Password | Asserted",),
        ("Fan Redundancy | Redundancy Lost | Asserted", "Fan Redundancy | Fully Redundant | Asserted"),
        (
            "Temperature SSB Temp | Lower Critical going low | Asserted | Reading 0 < Threshold 0 degrees C",
            "Temperature SSB Temp | Lower Critical going low | Deasserted | Reading 43 < Threshold 0 degrees C",
        ),
        ("Temperature Outlet | Upper Non-critical going high | Asserted",),
    ],
)
def test_what_is_no_alarm(rows: tuple[str, ...]):
    assert_quiet(sel(*rows))


def test_many_refused_logins_are_an_alarm():
    rows = ["Session Audit #0x1 | Invalid Username or Password | Asserted"] * 5
    assert_finds("bmc.audit_event", sel(*rows))


def test_a_log_that_is_printed_newest_first_is_paired_by_record():
    rows = sel(
        "Fan Fan3 | Lower Critical going low | Asserted",
        "Fan Fan3 | Lower Critical going low | Deasserted",
        "Fan Fan4 | Lower Critical going low | Asserted",
    ).splitlines()
    assert assert_finds("host.fan.failed", "\n".join(reversed(rows))).component == "Fan4"


def test_a_clock_that_was_never_set_gives_no_time():
    text = "   1 |  Pre-Init  |0000000012| Fan #0x41 | Lower Critical going low | Asserted\n"
    assert assert_finds("host.fan.failed", text).first_at is None


VERBOSE = """\
SEL Record ID          : 0001
 Record Type           : 02
 Timestamp             : 03/01/2026 00:15:20
 Sensor Type           : Memory
 Sensor Number         : 02
 Event Direction       : Assertion Event
 Description           : Uncorrectable ECC

SEL Record ID          : 0002
 Record Type           : 02
 Timestamp             : 03/01/2026 00:15:22
 Sensor Type           : Fan
 Sensor Number         : 41
 Event Direction       : Deassertion Event
 Description           : Lower Critical going low
"""
CSV = "1,03/02/2026,10:00:00,Temperature Inlet Temp,Upper Critical going high,Asserted\n"
FREEIPMI = """\
ID  | Date        | Time     | Name       | Type         | Event
1   | Jan-01-2026 | 00:00:10 | PS1 Status | Power Supply | Power Supply input lost (AC/DC)
"""
FREEIPMI_STATES = """\
ID,Date,Time,Name,Type,State,Event
1,Jan-01-2026,00:00:10,PS1 Status,Power Supply,Critical,Power Supply input lost (AC/DC)
2,Jan-01-2026,00:01:10,PS1 Status,Power Supply,Nominal,Presence detected
3,Jan-01-2026,00:01:10,OS Stop,OS Critical Stop,Critical,Run-time critical stop
"""
RACADM = """\
Record:      1
Date/Time:   01/02/2026 10:00:00
Source:      system
Severity:    Ok
Description: Log cleared.
-------------------------------------------------------------------------------
Record:      2
Date/Time:   01/03/2026 10:00:00
Source:      system
Severity:    Critical
Description: Fan 3 RPM is less than the lower critical threshold.
"""


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (VERBOSE, {"host.memory.uncorrectable"}),
        (CSV, {"host.temp.critical"}),
        (FREEIPMI, {"host.psu.failed"}),
        (FREEIPMI_STATES, {"host.psu.failed", "os.kernel_panic"}),
        (RACADM, {"host.fan.failed"}),
        ("IPMI Status: Critical [PS2 Status = Critical ('Power Supply Failure detected')] | 'a'=1\n", {"host.psu.failed"}),
        ("IPMI Status: Critical [Fan 3 = Critical (0.00)] | 'Fan 1'=4200.00\n", {"host.fan.failed"}),
        ("  1f | Linux kernel panic: Fatal excep\n", {"os.kernel_panic"}),
    ],
)  # fmt: skip
def test_the_layouts(text: str, faults: set[str]):
    assert {finding.fault for finding in roots(diagnosis_of(text))} == faults
    assert {finding.fault for finding in roots(diagnosis_of(text.replace("\n", "\r\n")))} == faults


def test_events_among_lines_of_a_system_log():
    text = "Mar  1 10:00:00 n1 kernel: [1.0] Linux version 6.8.0\n" + sel(
        "Power Supply PSU 2 | Failure detected | Asserted"
    )
    assert assert_finds("host.psu.failed", text).line_number == 2


ILO_CSV = "Severity,Class,Last Update,Initial Update,Count,Description\n"
IBMC = "ID    | Generation Time     | Severity | Event Code | Status     | Event Description\n"


@pytest.mark.parametrize(
    ("text", "fault", "component"),
    [
        (
            ILO_CSV
            + 'Caution,0x0005,03/01/2026 18:25,03/01/2026 17:02,3,"Corrected Memory Error threshold exceeded (Processor 1, DIMM 2)"\n',
            "host.memory.correctable_storm",
            "Processor 1, DIMM 2",
        ),
        (
            IBMC
            + "2046  | 2026-03-01 09:00:01 | Major    | 0x0300000D | Asserted   | The PSU2 input is lost (no AC).\n",
            "host.psu.failed",
            "PSU2",
        ),
        (
            'Index,Severity,Source,Common ID,Date,Message\n12,Error,Memory,FQXSFMA0002M,2026-03-01 03:40:11,"An uncorrectable memory '
            'error, in DIMM 4"\n',
            "host.memory.uncorrectable",
            "DIMM 4",
        ),
        (
            'EID,Severity,Time Stamp,Sensor,Description\n12,Critical,2026/03/01 03:40:11,FAN3,"Lower Critical going low - Assertion"\n',
            "host.fan.failed",
            "FAN3",
        ),
        (
            "</>hpiLO-> show /system1/log1/record3\n\nstatus=0\n\n/system1/log1/record3\n  Targets\n  Properties\n    number=3\n"
            "    severity=Critical\n    date=03/01/2026\n    time=03:40\n    description=Fan Failure (Fan 2)\n  Verbs\n",
            "host.fan.failed",
            "Fan 2",
        ),
        (
            "system> readlog\n0  I  2026-03-01T03:40:01.123  Remote Login Successful.\n1  E  2026-03-01T03:41:11.120  Fan 3 has failed.\n",
            "host.fan.failed",
            "Fan 3",
        ),
    ],
)
def test_logs_of_the_vendors_own_tools(text: str, fault: str, component: str):
    finding = assert_finds(fault, text)
    assert finding.component == component
    assert finding.first_at is not None


@pytest.mark.parametrize(
    "text",
    [
        IBMC  # the newest first
        + "2047  | 2026-03-01 09:10:01 | Major    | 0x0300000D | Deasserted | The PSU2 input is lost (no AC).\n"
        "2046  | 2026-03-01 09:00:01 | Major    | 0x0300000D | Asserted   | The PSU2 input is lost (no AC).\n",
        ILO_CSV
        + 'Repaired,Power,03/01/2026 03:40,03/01/2026 03:40,1,"System Power Supply: General Failure (Power Supply 1)"\n',
        ILO_CSV + "Caution,Security,03/01/2026 23:41,03/01/2026 23:41,1,Browser login failure from: 192.0.2.9.\n",
        "id,severity,source,description\n1,Critical,scanner,memory drive failed\n",
        "time,level,message\n2026-03-01 03:40:11,error,power supply of the demo failed\n",
    ],
)
def test_what_is_over_and_what_other_programs_write_is_silent(text: str):
    assert_quiet(text)


def _racadm(*said: str) -> str:
    return "".join(
        f"Record:      {n}\nDate/Time:   2026-03-01T03:22:{n:02d}-06:00\nSource:      audit\nSeverity:    {severity}\n"
        f"Description: {text}\n{'-' * 79}\n"
        for n, (severity, _, text) in enumerate((one.partition("|") for one in said), 1)
    )


def test_a_log_in_after_failed_ones_from_the_same_place_is_told():
    failed = "Warning|Unable to log in for root from 192.0.2.9 using GUI."
    done = "Informational|Successfully logged in using root, from 192.0.2.9 and GUI."
    elsewhere = "Informational|Successfully logged in using root, from 192.0.2.77 and GUI."
    assert_finds("bmc.audit_event", _racadm(failed, failed, done))
    assert_quiet(_racadm(failed, done))
    assert_quiet(_racadm(failed, failed, elsewhere))


def test_a_long_log_takes_no_long_time():
    rows = "".join(
        f"{n:4x} | 03/{n % 28 + 1:02d}/2026 | 10:02:{n % 60:02d} | Memory DIMM A{n % 8} | Correctable ECC | Asserted\n"
        for n in range(3_000)
    )
    finding = roots(diagnosis_of(rows))[0]
    assert finding.count >= 375
