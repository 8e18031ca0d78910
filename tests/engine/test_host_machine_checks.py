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


def test_an_exception_whose_line_is_cut_off():
    text = "[ 912.1] mce: [Hardware Error]: CPU 11: Machine Check Exception: 5 Bank 3\n"
    assert assert_finds("host.cpu.mce", text).component == "CPU 11"
    assert_quiet("[ 912.1] mce: [Hardware Error]: CPU 11: Machine Check: 0 Bank 3\n")


IN_WORDS = """\
Hardware event. This is not a software error.
MCE 0
CPU 6 BANK 1 TSC 1a2b3c4d
MCi status:
{word}
Error enabled
MCA: {unit}
"""


def test_mcelog_without_its_status_line():
    text = IN_WORDS.format(word="Uncorrected error", unit="Data CACHE Level-1 Data-Read Error")
    assert assert_finds("host.cpu.mce", text).component == "CPU 6"
    assert_finds(
        "host.memory.uncorrectable",
        IN_WORDS.format(word="Uncorrected error", unit="MEMORY CONTROLLER RD_CHANNEL1_ERR"),
    )
    assert_quiet(IN_WORDS.format(word="Corrected error", unit="Data CACHE Level-1 Data-Read Error"))


RASDAEMON = (
    "9 2026-02-01 10:00:00 +0000 error: {text}, mcg mcgstatus=0, mci {word}, n_errors=1 memory_channel=2, "
    "mcgcap=0x0f000c1c, status=0x{status}, addr=0x1efa4c7cc40, cpu=0x00000009, socketid=0x00000001, bank=0x0000000d\n"
)


def test_rasdaemon_by_its_status():
    read = "MEMORY CONTROLLER RD_CHANNEL2_ERR Transaction: Memory read error"
    assert_finds(
        "host.memory.correctable", RASDAEMON.format(text=read, word="Corrected_error", status="8c00004000010092")
    )
    assert_finds(
        "host.memory.uncorrectable", RASDAEMON.format(text=read, word="Uncorrected_error", status="be00000000010092")
    )
    text = RASDAEMON.format(text="Internal Timer error", word="Uncorrected_error", status="be00000000000400")
    assert assert_finds("host.cpu.mce", text).component == "CPU 9"
    assert_quiet(RASDAEMON.format(text="Generic CACHE error", word="Corrected_error", status="8c0000400001010a"))


def test_memory_failures_that_were_injected():
    failure = "[ 77.2] Memory failure: 0x2f00d: recovery action for dirty LRU page: Recovered\n"
    assert_quiet("[ 77.1] Injecting memory failure at pfn 0x2f00d\n" + failure)
    assert_finds("host.memory.uncorrectable", "[ 77.1] Injecting memory failure at pfn 0x1111\n" + failure)
