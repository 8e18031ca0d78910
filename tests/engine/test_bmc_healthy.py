"""What well BMCs print, of many vendors and tools: all of it stays without an alarm."""

import pytest

from .helpers import assert_quiet

DELL_SDR = """\
SEL              | 72h | ns  |  7.1 | No Reading
Intrusion        | 73h | ok  |  7.1 |
Fan1A            | 30h | ok  |  7.1 | 5880 RPM
Fan Redundancy   | 75h | ok  |  7.1 | Fully Redundant
Inlet Temp       | 05h | ok  |  7.1 | 21 degrees C
CPU Usage        | FDh | ok  |  7.1 | 0 percent
Power Cable      | 6Ch | ns  |  7.1 | No Reading
Current 1        | 6Ah | ok  | 10.1 | 0.60 Amps
Voltage 1        | 6Ch | ok  | 10.1 | 230 Volts
Pwr Consumption  | 77h | ok  |  7.1 | 322 Watts
PS Redundancy    | 77h | ok  |  7.1 | Fully Redundant
Status           | 85h | ok  | 10.1 | Presence detected
Status           | 86h | ok  | 10.2 | Presence detected
VCORE PG         | 23h | ok  |  3.1 | State Deasserted
3.3V PG          | 2Ah | ok  |  7.1 | State Deasserted
MEM012 VDDQ PG   | 26h | ok  |  3.1 | State Deasserted
Drive 0          | A0h | ok  |  4.1 | Drive Present
Drive 9          | A0h | ns  |  4.1 | No Reading
ROMB Battery     | 80h | ok  | 11.1 |
CMOS Battery     | 01h | ok  |  7.1 | Presence Detected
OS Watchdog Time | 71h | ok  |  7.1 |
Mem ECC Warning  | 2Bh | ns  | 34.1 | No Reading
CPU1 Status      | 60h | ok  |  3.1 | Presence detected
Redundancy       | 79h | ns  |  7.1 | No Reading
Riser Config     | 66h | ok  | 11.1 | Connected
A                | 0Ah | ok  | 32.1 | Presence Detected
PCIe Slot1       | B0h | ns  |  7.1 | Disabled
TPM Presence     | 41h | ns  |  7.1 | No Reading
GPU7 Temp        | 17h | ns  |  7.1 | No Reading
"""

SENSOR_WITH_THRESHOLDS = """\
CPU1 Temp        | 41.000     | degrees C  | ok    | 5.000     | 5.000     | 10.000    | 90.000    | 95.000    | 95.000
P1-DIMMA1 Temp   | na         |            | na    | na        | na        | na        | na        | na        | na
GPU1 Temp        | 35.000     | degrees C  | ok    | -11.000   | -8.000    | -5.000    | 90.000    | 95.000    | 100.000
FAN1             | 8400.000   | RPM        | ok    | 280.000   | 420.000   | na        | na        | 35560.000 | 35700.000
FAN9             | na         |            | na    | na        | na        | na        | na        | na        | na
12V              | 12.170     | Volts      | ok    | 10.170    | 10.740    | 11.180    | 12.945    | 13.260    | 13.575
VBAT             | 0x4        | discrete   | 0x0400| na        | na        | na        | na        | na        | na
Chassis Intru    | 0x0        | discrete   | 0x0000| na        | na        | na        | na        | na        | na
PS1 Status       | 0x1        | discrete   | 0x0100| na        | na        | na        | na        | na        | na
PS4 Status       | 0x0        | discrete   | 0x0000| na        | na        | na        | na        | na        | na
NVMe_SSD Temp    | 33.000     | degrees C  | ok    | na | na | na | 70 | 75 | 80
PSU_Redundancy   | 0x1        | discrete   | 0x0180| na        | na        | na        | na        | na        | na
CPU0_Status      | 0x80       | discrete   | 0x8080| na        | na        | na        | na        | na        | na
Watchdog2        | 0x0        | discrete   | 0x0080| na
SEL              | 0x10       | discrete   | 0x1080| na
CPU_CATERR       | 0x0        | discrete   | 0x0180| na
Fan_Redundancy   | 0x1        | discrete   | 0x0180| na
"""

HPE_SDR = """\
UID Light        | 0x02h      | ok
Sys. Health LED  | 0x01h      | ok
01-Inlet Ambient | 20 degrees C      | ok
02-CPU 1         | 40 degrees C      | ok
03-P1 DIMM 1-6   | disabled          | ns
Fan 1            | 17.25 percent     | ok
Fan 1 DutyCycle  | 9.02 percent      | ok
Fan 1 Presence   | Device Present | ok
Power Supply 1   | 120 Watts, Presence detected  | ok
Power Supply 2   | 35 Watts, Presence detected   | ok
Fans             | 0x01              | ok
Power Meter      | 155 Watts         | ok
Memory Status    | 0x40 | ok
CPU_Stat_C1      | 0x80 | ok
Megacell Status  | 0x04 | ok
Intrusion        | Not Readable | ns
P/S 2 Inlet      | Not Readable      | ns
LOM Card         | disabled          | ns
"""

IPMI_SENSORS = """\
ID   | Name             | Type                        | Reading    | Units | Event
4    | CPU Temp         | Temperature                 | 35.00      | C     | 'OK'
71   | FAN 2            | Fan                         | N/A        | RPM   | N/A
539  | Chassis Intru    | Physical Security           | N/A        | N/A   | 'OK'
606  | PS Status        | Power Supply                | N/A        | N/A   | 'Presence detected'
610  | Drive 1          | Drive Slot                  | N/A        | N/A   | 'Drive Presence'
611  | CPU1             | Processor                   | N/A        | N/A   | 'Processor Presence detected'
612  | Mem              | Memory                      | N/A        | N/A   | 'Presence detected'
613  | Unknown          | Entity Presence             | N/A        | N/A   | 'Entity Present'
614  | SEL Fullness     | Event Logging Disabled      | N/A        | N/A   | 'OK'
615  | PwrState         | System ACPI Power State     | N/A        | N/A   | 'S0/G0'
616  | PSU Redundancy   | Power Supply                | N/A        | N/A   | 'Fully Redundant'
"""

CHASSIS = """\
System Power         : on
Power Overload       : false
Power Interlock      : inactive
Main Power Fault     : false
Power Control Fault  : false
Power Restore Policy : previous
Last Power Event     : command
Chassis Intrusion    : inactive
Front-Panel Lockout  : inactive
Drive Fault          : false
Cooling/Fan Fault    : false
Sleep Button Disable : not allowed
"""

MC_INFO = """\
Device ID                 : 32
Device Revision           : 1
Firmware Revision         : 6.10
IPMI Version              : 2.0
Manufacturer ID           : 674
Manufacturer Name         : Dell Inc.
Product ID                : 256 (0x0100)
Device Available          : yes
Provides Device SDRs      : yes
Additional Device Support :
    Sensor Device
    SDR Repository Device
Aux Firmware Rev Info     :
    0x00
"""

USERS = """\
ID  Name         Callin  Link Auth    IPMI Msg   Channel Priv Limit
1                    true    false      false      NO ACCESS
2   root             true    true       true       ADMINISTRATOR
3                    true    false      false      NO ACCESS
4                    false   false      false      Unknown (0x00)
5   ops              true    true       true       OPERATOR
"""

LAN = """\
Set in Progress         : Set Complete
Auth Type Support       : MD5
Auth Type Enable        : Callback : MD5
                        : User     : MD5
                        : OEM      :
IP Address Source       : DHCP Address
IP Address              : 192.0.2.9
Subnet Mask             : 255.255.255.0
SNMP Community String   : public
Default Gateway IP      : 192.0.2.1
Backup Gateway IP       : 0.0.0.0
802.1q VLAN ID          : Disabled
RMCP+ Cipher Suites     : 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14
Cipher Suite Priv Max   : XXXaaaaaaaaaaaa
                        :     X=Cipher Suite Unused
                        :     c=CALLBACK
                        :     u=USER
"""

SEL_INFO = """\
SEL Information
Version          : 1.5 (v1.5, v2 compliant)
Entries          : 12
Free Space       : 15920 bytes or more
Percent Used     : 2%
Last Add Time    : 03/02/2026 10:00:00
Last Del Time    : Not Available
Overflow         : false
Supported Cmds   : 'Delete' 'Reserve'
"""

SEL_OF_A_BOOT = """\
   1 | 03/01/2026 | 10:01:33 | Event Logging Disabled SEL | Log area reset/cleared | Asserted
   2 | 03/01/2026 | 10:01:33 | System ACPI Power State ACPI | S5/G2: soft-off | Asserted
   3 | 03/01/2026 | 10:01:33 | System Event #0x83 | Timestamp Clock Sync | Asserted
   4 | 03/01/2026 | 10:02:33 | System Boot Initiated #0x85 | Initiated by power up | Asserted
   5 | 03/01/2026 | 10:02:33 | System Firmware Progress #0x06 | Video initialization | Asserted
   6 | 03/01/2026 | 10:02:33 | Power Supply PS1 | Presence detected | Asserted
   7 | 03/01/2026 | 10:02:33 | OS Boot #0x1f | C: boot completed | Asserted
   8 | 03/01/2026 | 10:02:33 | Drive Slot / Bay Drive 3 | Drive Present | Asserted
   9 | 03/01/2026 | 10:02:33 | Unknown #0x2e |  | Asserted
   a | OEM record df | 000157 | 040c00000000
   b | 03/01/2026 | 10:02:33 | OEM record c1 | 000137 | 4a2f00000000
   c | 03/01/2026 | 10:02:33 | Processor CPU1 Status | Presence detected | Asserted
   d | 03/01/2026 | 10:02:33 | Session Audit #0xff |  | Asserted
   e | 03/01/2026 | 10:02:33 | Power Unit Pwr Unit Status | Power off/down | Asserted
   f | 03/01/2026 | 10:02:33 | Power Unit Pwr Unit Status | Power off/down | Deasserted
  10 | 03/01/2026 | 10:02:33 | OS Critical Stop #0x46 | OS graceful shutdown | Asserted
  11 | 03/01/2026 | 10:02:33 | Fan Fan Redundancy | Redundancy Lost | Asserted
  12 | 03/01/2026 | 10:02:33 | Fan Fan Redundancy | Fully Redundant | Asserted
  13 | 03/01/2026 | 10:02:33 | Version Change #0x44 | Firmware or software change success, Mngmt Ctrl | Asserted
  14 | 03/01/2026 | 10:02:33 | Memory #0xe2 | Presence Detected | Asserted
  15 | 03/01/2026 | 10:02:33 | Watchdog2 #0xca | Timer expired | Asserted
  16 | 03/01/2026 | 10:02:33 | Microcontroller/Coprocessor #0x17 | Transition to Running | Asserted
  17 | 03/01/2026 | 10:02:33 | System Event #0x12 | OEM System boot event | Asserted
"""

IPMI_SEL = """\
ID  | Date        | Time     | Name             | Type                        | Event
1   | Mar-01-2026 | 10:00:00 | SEL              | Event Logging Disabled      | Log Area Reset/Cleared
2   | Mar-01-2026 | 10:00:00 | Sensor #0        | System Boot Initiated | Initiated by power up
3   | Mar-01-2026 | 10:00:00 | ACPI State       | System ACPI Power State     | S0/G0
4   | Mar-01-2026 | 10:00:00 | Button           | Button/Switch               | Power Button pressed
5   | Mar-01-2026 | 10:00:00 | Sensor #12       | OS Boot                     | C: boot completed
6   | Mar-01-2026 | 10:00:00 | PS1 Status | Power Supply | Presence detected
"""

SESSION = """\
session handle                : 2
slot count                    : 36
active sessions               : 1
user id                       : 2
privilege level               : ADMINISTRATOR
session type                  : IPMIv2/RMCP+
channel number                : 0x01
"""

DCMI = """\

    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                 18 Watts
    Maximum during sampling period:                411 Watts
    IPMI timestamp:                           03/01/2026 10:00:00 UTC
    Sampling period:                          00000010 Seconds.
    Power reading state is:                   activated
"""

FRU = """\
FRU Device Description : Builtin FRU Device (ID 0)
 Board Mfg Date        : Mon Jan  1 00:00:00 2024
 Board Mfg             : ACME
 Board Serial          : CN1234
 Product Serial        : 7H
"""

BMC_INFO = """\
Device ID             : 32
Device Revision       : 1
Device Available      : yes (normal operation)
IPMI Version          : 2.0
"""

IPMI_CHASSIS = """\
System Power                        : on
Power overload                      : false
Interlock                           : inactive
Power fault                         : false
Power control fault                 : false
Power restore policy                : Restore
Last Power Event                    : power on via ipmi command
Chassis intrusion                   : inactive
Front panel lockout                 : inactive
Drive Fault                         : false
Cooling/fan fault                   : false
Chassis Identify state              : off
"""

SHORT = ["Selftest: passed\n", "Chassis Power is on\n", "IPMI Status: OK | 'System Temp'=30.00 'FAN 1'=2100.00"]

WELL = {
    "dell sdr": DELL_SDR,
    "smc": SENSOR_WITH_THRESHOLDS,
    "hpe": HPE_SDR,
    "freeipmi": IPMI_SENSORS,
    "chassis": CHASSIS,
    "mcinfo": MC_INFO,
    "users": USERS,
    "lan": LAN,
    "selinfo": SEL_INFO,
    "sel boot": SEL_OF_A_BOOT,
    "fi sel": IPMI_SEL,
    "session": SESSION,
    "dcmi": DCMI,
    "fru": FRU,
    "bmc-info": BMC_INFO,
    "fichassis": IPMI_CHASSIS,
}


@pytest.mark.parametrize("text", WELL.values(), ids=WELL.keys())
def test_a_well_bmc_raises_no_alarm(text: str):
    assert assert_quiet(text).checked


@pytest.mark.parametrize("text", WELL.values(), ids=WELL.keys())
def test_nor_indented_prefixed_or_with_windows_line_ends(text: str):
    assert_quiet(text.replace("\n", "\r\n"))
    assert_quiet("".join(f"    {line}\n" for line in text.splitlines()))
    assert_quiet("$ ipmitool\n" + text + "\n$ exit\n")


@pytest.mark.parametrize("text", SHORT)
def test_short_answers(text: str):
    assert assert_quiet(text).checked
