"""Redfish documents of many vendors: the sick part, the history, the accounts, and what was not to be seen."""

import json
from typing import Any

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots

OK = {"State": "Enabled", "Health": "OK", "HealthRollup": "OK"}
BAD = {"State": "Enabled", "Health": "Critical"}


def text(value: Any) -> str:
    return json.dumps(value, indent=2)


def resource(kind: str, **more: Any) -> dict[str, Any]:
    return {"@odata.type": f"#{kind}.v1_5_0.{kind}", "@odata.id": f"/redfish/v1/{kind}/1", **more}


def log(*entries: dict[str, Any]) -> str:
    rows = [{"Id": str(n), "EntryType": "Event", **entry} for n, entry in enumerate(entries, 1)]
    return text(resource("LogEntryCollection", Members=rows))


@pytest.mark.parametrize(
    ("value", "fault", "component"),
    [
        (resource("Memory", Name="DIMM", DeviceLocator="PROC 1 DIMM 3", Status=BAD), "host.memory.uncorrectable", "PROC 1 DIMM 3"),
        (resource("Sensor", Name="GPU 7 Temp", ReadingType="Temperature", Status=BAD), "gpu.thermal.shutdown", "GPU 7 Temp"),
        (resource("Sensor", Name="Inlet Temp", ReadingType="Temperature", Status=BAD), "host.temp.critical", "Inlet Temp"),
        (resource("Drive", Name="Disk 4", FailurePredicted=True, Status=OK), "host.disk.failing", "Disk 4"),
        (resource("PCIeDevice", Name="ConnectX-7", Status=BAD), "host.pcie.fatal", "ConnectX-7"),
        (resource("Processor", Name="CPU 2", ProcessorType="CPU", Status=BAD), "host.cpu.mce", "CPU 2"),
        (resource("LeakDetector", Name="Leak 1", DetectorState="Critical", Status=BAD), "facility.leak", "Leak 1"),
        (resource("Chassis", Name="Chassis", PhysicalSecurity={"IntrusionSensor": "HardwareIntrusion"}, Status=OK), "host.intrusion", None),
        (resource("ComputerSystem", Name="System", Status={**OK, "HealthRollup": "Critical"},
                  MemorySummary={"Status": {"HealthRollup": "Critical"}}), "host.memory.uncorrectable", None),
        (resource("ComputerSystem", Name="System", Status=BAD), "node.unclassified", "System"),
    ],
)  # fmt: skip
def test_a_sick_resource(value: dict[str, Any], fault: str, component: str | None):
    assert assert_finds(fault, text(value)).component == component


def test_the_parent_that_repeats_the_health_of_its_part_is_no_second_finding():
    power = resource("Power", PowerSupplies=[{"Name": "PSU 1", "Status": OK}, {"Name": "PSU 2", "Status": BAD}])
    system = resource("ComputerSystem", Name="System", Status=BAD)
    for several in (text([power, system]), json.dumps(power) + "\n" + json.dumps(system) + "\n"):
        assert assert_finds("host.psu.failed", several).component == "PSU 2"


def test_a_gpu_gives_the_reason_itself():
    reason = {
        "Message": "The resource property GPU_SXM_3 Temp has detected errors of type 'Overheat'.",
        "Severity": "Critical",
    }
    gpu = resource("Processor", Id="GPU_SXM_3", ProcessorType="GPU", Status={**BAD, "Conditions": [reason]})
    assert assert_finds("gpu.thermal.shutdown", text(gpu)).component == "GPU_SXM_3"


@pytest.mark.parametrize(
    "value",
    [
        resource("Power", PowerSupplies=[{"Name": "PS3", "Status": {"State": "Absent", "Health": "Critical"}}]),
        resource("Power", Voltages=[{"Name": "VIN", "Status": {"State": "Disabled", "Health": "Critical"}}]),
        resource("Power", PowerControl=[{"Name": "Power", "PowerConsumedWatts": 640, "Status": OK}]),
        resource("NetworkPort", Name="Port 2", LinkStatus="Down", Status={"State": "Disabled", "Health": None}),
        resource("ComputerSystem", PowerState="Off", BootProgress={"LastState": "None"}, Status=OK),
        resource("AccountService", AccountLockoutThreshold=0, Status=OK),
        resource("ManagerAccount", UserName="root", Enabled=True, RoleId="Administrator"),
        resource("ManagerAccount", UserName="", Enabled=False, RoleId="NoAccess"),
        resource("ManagerNetworkProtocol", IPMI={"ProtocolEnabled": True}, Telnet={"ProtocolEnabled": False}),
        resource("MetricReport", MetricValues=[{"MetricId": "A", "MetricValue": "3"}]),
        resource("Thermal", Fans=[None, 3, {"Name": ["a"], "Status": {"Health": ["OK"]}}], Temperatures="none"),
    ],
)
def test_what_is_well_or_not_there(value: dict[str, Any]):
    assert_quiet(text(value))


@pytest.mark.parametrize(
    ("message_id", "message", "fault", "component"),
    [
        ("IDRAC.2.8.PSU0001", "Power supply 2 failed.", "host.psu.failed", "Power supply 2"),
        ("IDRAC.2.8.PCI1318", "A fatal error was detected on a component at bus 59 device 0 function 0.",
         "host.pcie.fatal", "0000:3b:00.0"),
        ("IDRAC.2.8.MEM0001", "Multi-bit memory errors detected on a memory device at location(s) DIMM_B1.", "host.memory.uncorrectable",
         "DIMM_B1"),
        ("IDRAC.2.8.CPU0000", "CPU 1 has an internal error (IERR).", "host.cpu.mce", "CPU 1"),
        ("IDRAC.2.8.PDR1001", "Fault detected on drive 4 in disk drive bay 1.", "host.disk.failing", "drive 4"),
        ("iLOEvents.2.1.X", "Uncorrectable Memory Error (Processor 1, DIMM 4)", "host.memory.uncorrectable", "Processor 1, DIMM 4"),
        ("OpenBMC.0.1.SensorThresholdCriticalHighGoingHigh",
         "Sensor Inlet_Temp reading of 45 (xyz.openbmc_project.Sensor.Value.Unit.DegreesC) is above the 43 critical high threshold.",
         "host.temp.critical", "Inlet_Temp"),
        ("Platform.1.0.LeakDetected", "Leak detected by sensor LEAK_3", "facility.leak", None),
        ("Vendor.1.0.Odd", "Something that nobody knows happened", "node.unclassified", None),
    ],
)  # fmt: skip
def test_an_entry_that_stands(message_id: str, message: str, fault: str, component: str | None):
    entry = {"Severity": "Critical", "MessageId": message_id, "Message": message, "Created": "2026-01-02T00:00:00Z"}
    finding = assert_finds(fault, log(entry))
    assert finding.component == component
    assert finding.first_at is not None
    assert_quiet(log(entry | {"Resolved": True}))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Power supply 1 has lost input power.", "The input power for power supply 1 has been restored."),
        ("Fan 3 RPM is less than the lower critical threshold.", "Fan 3 RPM is within range."),
        ("The chassis is open while the power is off.", "The chassis is closed while the power is off."),
        (
            "Sensor Exhaust reading of 61 (xyz.openbmc_project.Sensor.Value.Unit.DegreesC) is above the 60 critical high threshold.",
            "Sensor Exhaust reading of 58 (xyz.openbmc_project.Sensor.Value.Unit.DegreesC) is below the 60 critical high threshold.",
        ),
    ],
)
def test_what_a_later_entry_takes_back(first: str, second: str):
    bad = {"Severity": "Critical", "Message": first, "Created": "2026-01-01T00:00:00Z"}
    good = {"Severity": "OK", "Message": second, "Created": "2026-01-01T00:09:00Z"}
    assert roots(diagnosis_of(log(bad)))
    assert_quiet(log(good, bad))


def test_open_accounts_and_protocols():
    assert_finds("bmc.insecure", text(resource("ManagerAccount", UserName="", Enabled=True, RoleId="Administrator")))
    telnet = resource("ManagerNetworkProtocol", Telnet={"ProtocolEnabled": True, "Port": 23})
    assert assert_finds("bmc.insecure", text(telnet)).component == "Telnet"


def error(message_id: str) -> str:
    return text({"error": {"code": "Base.1.8.GeneralError", "@Message.ExtendedInfo": [{"MessageId": message_id}]}})


def test_an_answer_that_is_an_error_could_not_be_checked():
    assert_finds("bmc.auth_failed", error("Base.1.8.NoValidSession"))
    assert assert_quiet(error("Base.1.8.InsufficientPrivilege")).verdict.state == "could_not_check"


def test_a_list_of_links_shows_nothing():
    value = resource("ChassisCollection", Members=[{"@odata.id": "/redfish/v1/Chassis/1"}])
    assert assert_quiet(text(value)).verdict.state == "could_not_check"


def test_an_answer_with_its_headers_and_the_next_prompt():
    value = resource("Thermal", Fans=[{"Name": "Fan 7", "Status": BAD}])
    answer = f"HTTP/1.1 200 OK\ncontent-type: application/json\n\n{text(value)}\n$ exit\n"
    assert assert_finds("host.fan.failed", answer).component == "Fan 7"


def test_stale_metrics_are_told_once_for_each_device():
    def value(device: str, stale: object) -> dict[str, object]:
        name = f"/redfish/v1/Chassis/{device}/Sensors/{device}_TEMP_0"
        return {"MetricProperty": name, "MetricValue": "41.0", "Oem": {"Nvidia": {"MetricValueStale": stale}}}

    report = {"@odata.type": "#MetricReport.v1_4_2.MetricReport", "Id": "Env_0"}
    sick = report | {"MetricValues": [value("GPU_1", False), value("GPU_3", True), value("GPU_3", True)]}
    finding = assert_finds("bmc.stale_metric", json.dumps(sick))
    assert (finding.component, finding.count) == ("GPU_3", 1)
    assert_quiet(json.dumps(report | {"MetricValues": [value("GPU_1", False), "odd", {"Oem": None}]}))


def test_a_cooling_unit_is_the_racks_whatever_its_conditions_speak_of():
    unit = {
        "@odata.type": "#CoolingUnit.v1_1_0.CoolingUnit",
        "@odata.id": "/redfish/v1/ThermalEquipment/CDUs/1",
        "Name": "Rack 3 CDU",
        "Status": {
            "Health": "Critical",
            "State": "Enabled",
            "Conditions": [
                {"Message": "Supply temperature is too high.", "MessageId": "X.1.0.Hot", "Severity": "Critical"}
            ],
        },
    }
    assert assert_finds("facility.cooling", json.dumps(unit)).component == "Rack 3 CDU"
