"""Machine checks as Intel and AMD drivers, mcelog and the firmware tell of them."""

import pytest

from .helpers import assert_finds, assert_quiet

AMD = """\
[ 8123.100001] mce: [Hardware Error]: Machine check events logged
[ 8123.100005] [Hardware Error]: {word}
[ 8123.100010] [Hardware Error]: CPU:{cpu} (19:11:1) MC{bank}_STATUS[{flags}]: 0x{status}
[ 8123.100020] [Hardware Error]: Error Addr: 0x00000007d41b7940
[ 8123.100030] [Hardware Error]: IPID: 0x0000009600150f00, Syndrome: 0x0000000001000000
[ 8123.100040] [Hardware Error]: {unit} Ext. Error Code: 0, {text}
[ 8123.100050] [Hardware Error]: cache level: L3/GEN, tx: GEN, mem-tx: RD
"""


def amd(*, unit: str, flags: str, status: str, word: str = "Corrected error, no action required.") -> str:
    return AMD.format(word=word, cpu=2, bank=21, flags=flags, status=status, unit=unit, text="an error.")


def test_amd_memory():
    flags = "Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-"
    assert_finds(
        "host.memory.correctable", amd(unit="Unified Memory Controller", flags=flags, status="dc2040000400011b")
    )
    flags = "-|UE|MiscV|AddrV|-|TCC|SyndV|UECC|-|Poison|-"
    assert_finds(
        "host.memory.uncorrectable", amd(unit="Unified Memory Controller", flags=flags, status="bc2820000000011b")
    )


def test_amd_processor():
    flags = "-|CE|MiscV|AddrV|-|-|SyndV|-|-|-|-"
    assert_quiet(amd(unit="Load Store Unit", flags=flags, status="9c20000000010145"))
    flags = "-|UE|MiscV|AddrV|PCC|-|SyndV|-|-|-|-"
    assert (
        assert_finds("host.cpu.mce", amd(unit="Load Store Unit", flags=flags, status="be20000000010145")).component
        == "CPU 2"
    )


MCELOG = """\
Hardware event. This is not a software error.
MCE 0
CPU 4 BANK 7 TSC 5a1b2c3d4e5f
MISC 200001c020002086 ADDR 1f4dc5b40
MCG status:
MCi status:
{text}
STATUS {status} MCGSTATUS 0
MCGCAP f000c14 APICID 8 SOCKETID 0
"""


def test_mcelog():
    assert_finds("host.memory.correctable", MCELOG.format(text="Corrected error", status="8c00004000010090"))
    assert_finds("host.memory.uncorrectable", MCELOG.format(text="Uncorrected error", status="bd80000000100090"))
    assert (
        assert_finds("host.cpu.mce", MCELOG.format(text="Uncorrected error", status="b200000000020408")).component
        == "CPU 4"
    )
    assert_quiet(MCELOG.format(text="Corrected error", status="8c00000000020e0f"))


CPER = """\
[  700.1] {{3}}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4
[  700.1] {{3}}[Hardware Error]: event severity: {severity}
[  700.1] {{3}}[Hardware Error]:  Error 0, type: {severity}
[  700.1] {{3}}[Hardware Error]:   section_type: {section}
"""


@pytest.mark.parametrize(
    ("severity", "section", "fault"),
    [
        ("recoverable", "memory error", "host.memory.uncorrectable"),
        ("corrected", "memory error", "host.memory.correctable"),
        ("fatal", "PCIe error", "host.pcie.fatal"),
        ("corrected", "PCIe error", "host.pcie.correctable"),
        ("fatal", "ARM processor error", "host.cpu.mce"),
        ("recoverable", "general processor error", "host.cpu.mce"),
    ],
)
def test_firmware_records(severity: str, section: str, fault: str):
    assert_finds(fault, CPER.format(severity=severity, section=section))
    assert_quiet(CPER.format(severity="info", section=section))


def test_the_firmware_and_edac_tell_of_one_error():
    edac = "[  700.2] EDAC MC1: 1 CE single-bit ECC on CPU1_DIMM_B1 (node:1 card:1 page:0x1f offset:0x0 grain:1 syndrome:0x0)\n"
    record = (
        CPER.format(severity="corrected", section="memory error")
        + "[  700.1] {3}[Hardware Error]:   fru_text: Card01, ChnB, DIMM0\n"
    )
    assert assert_finds("host.memory.correctable", record).component == "Card01, ChnB, DIMM0"
    assert assert_finds("host.memory.correctable", record + edac).component == "CPU1_DIMM_B1"
