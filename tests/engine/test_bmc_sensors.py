"""Tables of sensors, chassis status and metrics: what is sick now."""

import pytest

from diagnostics.engine.judges import bmc
from diagnostics.engine.parsers.log import Log

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots
from .test_bmc_healthy import CHASSIS, DELL_SDR, IPMI_SENSORS, SEL_INFO, SENSOR_WITH_THRESHOLDS


@pytest.mark.parametrize(
    ("table", "well", "sick", "fault"),
    [
        (DELL_SDR, "| Fully Redundant\nInlet", "| Redundancy Lost\nInlet", "host.fan.failed"),
        (DELL_SDR, "ok  |  7.1 | 21 degrees C", "unr |  7.1 | 61 degrees C", "host.temp.critical"),
        (DELL_SDR, "4.1 | Drive Present\n", "4.1 | Drive Present, Drive Fault\n", "host.disk.failing"),
        (DELL_SDR, "10.2 | Presence detected", "10.2 | Presence detected, Failure detected", "host.psu.failed"),
        (DELL_SDR, "3.1 | Presence detected", "3.1 | IERR, Presence detected", "host.cpu.mce"),
        (DELL_SDR, "10.1 | 230 Volts", "10.1 | 230 Volts\nVBAT | 6Dh | lcr | 7.1 | 2.1 Volts", "host.board.fault"),
        (SENSOR_WITH_THRESHOLDS, "FAN1             | 8400.000   | RPM        | ok ",
         "FAN1             | 0.000      | RPM        | nr ", "host.fan.failed"),
        (SENSOR_WITH_THRESHOLDS, "GPU1 Temp        | 35.000     | degrees C  | ok ",
         "GPU1 Temp        | 97.000     | degrees C  | cr ", "gpu.thermal.shutdown"),
        (SENSOR_WITH_THRESHOLDS, "PS1 Status       | 0x1        | discrete   | 0x0100",
         "PS1 Status       | 0x9        | discrete   | 0x0900", "host.psu.failed"),
        (SENSOR_WITH_THRESHOLDS, "Chassis Intru    | 0x0        | discrete   | 0x0000",
         "Chassis Intru    | 0x1        | discrete   | 0x0100", "host.intrusion"),
        (IPMI_SENSORS, "'Presence detected'\n610", "'Presence detected' 'Power Supply input lost (AC/DC)'\n610", "host.psu.failed"),
        (IPMI_SENSORS, "'Drive Presence'", "'Drive Presence' 'Drive Fault'", "host.disk.failing"),
        (IPMI_SENSORS, "'Fully Redundant'", "'Redundancy Lost'", "host.psu.failed"),
        (IPMI_SENSORS, "35.00      | C     | 'OK'", "95.00      | C     | 'At or Above (>=) Upper Critical Threshold'",
         "host.temp.critical"),
        (CHASSIS, "Main Power Fault     : false", "Main Power Fault     : true", "host.power.lost"),
        (CHASSIS, "Cooling/Fan Fault    : false", "Cooling/Fan Fault    : true", "host.fan.failed"),
        (CHASSIS, "Chassis Intrusion    : inactive", "Chassis Intrusion    : active", "host.intrusion"),
        (SEL_INFO, "Overflow         : false", "Overflow         : true", "bmc.sel_full"),
        (SEL_INFO, "15920 bytes or more", "16 bytes", "bmc.sel_full"),
    ],
)  # fmt: skip
def test_one_sick_row(table: str, well: str, sick: str, fault: str):
    assert well in table
    assert_finds(fault, table.replace(well, sick))


@pytest.mark.parametrize(
    "row",
    [
        "CPU1 Temp | 0Eh | cr | 3.1 | 0 degrees C",
        "CPU1 Temp | 0Eh | lcr | 3.1 | 2 degrees C",
        "Outlet Temp | 0Eh | unc | 3.1 | 71 degrees C",
        "P12V | 0Eh | lnc | 3.1 | 11.4 Volts",
    ],
)
def test_a_broken_sensor_or_a_warning_is_no_alarm(row: str):
    assert_quiet(f"{DELL_SDR}{row}\n")


def test_tables_with_commas():
    text = 'Inlet Temp,23,degrees C,ok\nFan1,0,RPM,lcr\nPS2 Status,86h,ok,10.2,"Presence detected, Failure detected"\n'
    assert {finding.component for finding in roots(diagnosis_of(text))} == {"Fan1", "PS2 Status"}
    text = (
        "ID,Name,Type,State,Reading,Units,Event\n27,FAN1,Fan,Critical,0.00,RPM,'At or Below (<=) Lower Critical Threshold'\n"
        "28,FAN2,Fan,N/A,N/A,RPM,N/A\n"
    )
    assert assert_finds("host.fan.failed", text).component == "FAN1"


def test_metrics_of_the_exporter():
    text = (
        "# HELP ipmi_chassis_drive_fault_state Current drive fault state (1=false, 0=true).\n"
        "ipmi_chassis_drive_fault_state 1\nipmi_chassis_power_state 1\n"
        'ipmi_fan_speed_state{id="65",name="FAN3"} 2\nipmi_temperature_state{id="7",name="GPU1 Temp"} NaN\n'
    )
    assert assert_finds("host.fan.failed", text).component == "FAN3"


def test_units_are_known_by_their_serials():
    text = "FRU Device Description : PSU1 (ID 2)\n Board Product         : PWR SPLY\n Board Serial          : CN0001\n"
    (part,) = bmc.FORMATS["ipmi-fru"].parts(Log.of(text))
    assert (part.kind, part.slot, part.serial, part.model) == ("psu", "PSU1", "CN0001", "PWR SPLY")
