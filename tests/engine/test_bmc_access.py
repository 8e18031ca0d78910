"""Accounts and network settings of a BMC as an auditor reads them, and the words of failed sessions."""

import pytest

from .helpers import assert_finds, assert_quiet
from .test_bmc_healthy import LAN, USERS

CONFIG = """\
Section User1
    ## Username                                   NULL
    Enable_User                                   No
    Lan_Enable_IPMI_Msgs                          Yes
    Lan_Privilege_Limit                           Administrator
EndSection
Section Rmcpplus_Conf_Privilege
    Maximum_Privilege_Cipher_Suite_Id_0           Unused
    Maximum_Privilege_Cipher_Suite_Id_3           Administrator
EndSection
"""
CIPHERS = """\
ID   IANA    Auth Alg        Integrity Alg   Confidentiality Alg
3    N/A     hmac_sha1       hmac_sha1_96    aes_cbc_128
"""


@pytest.mark.parametrize(
    ("text", "well", "sick", "component"),
    [
        (USERS, "1                    true    false      false      NO ACCESS",
         "1                    true    false      true       ADMINISTRATOR", "user 1"),
        (LAN, "XXXaaaa", "aXXaaaa", "cipher suite 0"),
        (LAN, ": User     : MD5", ": User     : NONE MD5", "authentication type none"),
        (CONFIG, "Enable_User                                   No", "Enable_User     Yes", "user 1"),
        (CONFIG, "Suite_Id_0           Unused", "Suite_Id_0           Administrator", "cipher suite 0"),
        (CIPHERS, "3    N/A", "0    N/A     none            none            none\n3    N/A", "cipher suite 0"),
    ],
)  # fmt: skip
def test_what_is_open(text: str, well: str, sick: str, component: str):
    assert well in text
    assert_quiet(text)
    assert assert_finds("bmc.insecure", text.replace(well, sick)).component == component


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Error: Unable to establish IPMI v2 / RMCP+ session", "bmc.unreachable"),
        (
            "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory",
            "bmc.unreachable",
        ),
        ("ipmi_ctx_open_outofband_2_0: session timeout", "bmc.unreachable"),
        ("ipmi-sel: BMC busy", "bmc.unreachable"),
        ("RAKP 2 message indicates an error : unauthorized name", "bmc.auth_failed"),
        ("Authentication type NONE not supported", "bmc.auth_failed"),
        ("192.0.2.1: ipmi-sensors: password invalid", "bmc.auth_failed"),
        ("ipmi-sensors: sdr cache out of date", "bmc.sensor_gap"),
        ("Selftest: device corrupted\n  -> SDR repository not accessible\n", "bmc.sensor_gap"),
        ("Info: SOL payload already active on another session", "bmc.kvm_failed"),
    ],
)
def test_failed_sessions(text: str, fault: str):
    assert_finds(fault, text)


@pytest.mark.parametrize(
    "text",
    [
        "ops@jump01:~$ ipmitool -I lanplus -H n17-bmc -U u -f ~/.p mc info\nError: Unable to establish IPMI v2 / RMCP+ session\n",
        "$ ipmi-sel -h n17-bmc -u u -p ****\nipmi-sel: connection timeout\n",
        "ipmitool -I lanplus -H n17-bmc -U u mc info\nError: Unable to establish IPMI v2 / RMCP+ session\n",
    ],
)
def test_the_machine_that_was_asked_is_meant_not_the_host_of_the_prompt(text: str):
    assert assert_finds("bmc.unreachable", text).node == "n17-bmc"


def test_a_refused_session_is_one_fault():
    text = "$ ipmitool -H 192.0.2.55 -U A -P x mc info\nRAKP 2 HMAC is invalid\nError: Unable to establish IPMI v2 / RMCP+ session\n"
    assert assert_finds("bmc.auth_failed", text).node == "192.0.2.55"
