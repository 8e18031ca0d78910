import pytest

from incidents.domain import faults

from .helpers import assert_finds, assert_quiet, diagnosis_of, followers, roots


def xid(number: int, text: str = "", *, pci: str = "0000:5e:00", at: float = 100.0) -> str:
    return f"[{at:12.6f}] NVRM: Xid (PCI:{pci}): {number}, pid=4242, name=python3, {text}\n"


def test_a_gpu_off_the_bus_is_found_with_its_line():
    finding = assert_finds("gpu.off_bus", "[ 1.000000] boring\n" + xid(79, "GPU has fallen off the bus."))
    assert (finding.component, finding.line_number, finding.severity) == ("0000:5e:00.0", 2, "SEV2")
    assert "79, pid=4242" in finding.line
    assert finding.confidence == "high"


def named(text: str) -> list[tuple[str, str | None]]:
    return [(finding.fault, finding.component) for finding in diagnosis_of(text).findings]


def test_every_xid_is_named_or_noted():
    found = {number: named(xid(number, "details")) for number in range(1, 177)}
    assert found == {number: [(faults.xid(number).fault, "0000:5e:00.0")] for number in found}


def test_every_sxid_is_named_or_noted():
    line = "[ 5.100000] nvidia-nvswitch2: SXid (PCI:0000:c5:00.0): {}, Fatal, Link 3 something"
    found = {one.number: named(line.format(one.number)) for one in faults.all_sxids()}
    assert len(found) > 300
    assert {number: seen for number, seen in found.items() if seen != [("gpu.nvswitch.error", "0000:c5:00.0")]} == {}


def test_an_xid_that_nobody_knows_is_unclassified():
    assert_finds("node.unclassified", xid(251, "a new error"))


def test_a_switch_error_that_calls_itself_nonfatal_is_nonfatal():
    line = "[ 5.100000] nvidia-nvswitch0: SXid (PCI:0000:c4:00.0): 20034, {}, Link 3 x\n"
    assert_finds("gpu.nvswitch.nonfatal", line.format("Non-fatal"))
    assert_finds("gpu.nvswitch.error", line.format("Fatal"))


def test_further_lines_of_a_switch_error_belong_to_it():
    text = (
        "[ 5.100000] nvidia-nvswitch0: SXid (PCI:0000:c4:00.0): 11012, Non-fatal, Link 3 ingress\n"
        "[ 5.100001] nvidia-nvswitch0: SXid (PCI:0000:c4:00.0): 11012, Severity 0 Engine instance 3\n"
        "[ 5.100002] nvidia-nvswitch0: SXid (PCI:0000:c4:00.0): 11012, Data {0x1, 0x2}\n"
    )
    assert len(assert_finds("gpu.nvswitch.nonfatal", text).evidence) == 3


def test_a_lost_gpu_explains_its_switch_links_and_the_recovery_action():
    text = (
        xid(79, "GPU has fallen off the bus.")
        + "[  106.100000] nvidia-nvswitch1: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 8 LTSSM Fault Up\n"
        + xid(154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", at=107)
    )
    finding = assert_finds("gpu.off_bus", text)
    assert sorted(followers(finding)) == ["gpu.nvswitch.error", "gpu.reset_required"]
    assert finding.action.startswith("Node Reboot Required; ")


def test_a_switch_error_hours_before_is_a_matter_of_its_own():
    text = "[  100.100000] nvidia-nvswitch1: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 8\n" + xid(79, "off", at=9000)
    assert {finding.fault for finding in roots(diagnosis_of(text))} == {"gpu.off_bus", "gpu.nvswitch.error"}


def test_a_double_bit_error_explains_remap_containment_and_stop():
    text = (
        xid(48, "DBE")
        + xid(63, "Row Remapper: New row marked", at=101)
        + xid(94, "Contained", at=102)
        + xid(45, "Ch 8", at=103)
    )
    finding = assert_finds("gpu.ecc.uncorrectable", text)
    assert followers(finding) == ["gpu.row_remap.pending", "gpu.ecc.contained", "gpu.app.channel_stopped"]


def test_a_halted_controller_explains_what_times_out_after_it():
    text = xid(62, "2b0b6a7e") + xid(45, "Ch 8") + xid(119, "Timeout after 45s", at=140) + xid(154, "x", at=141)
    assert len(assert_finds("gpu.microcontroller", text).consequences) == 3


def test_two_gpus_stay_two_findings():
    found = roots(diagnosis_of(xid(79, "off") + xid(79, "off", pci="0000:9b:00")))
    assert [finding.component for finding in found] == ["0000:5e:00.0", "0000:9b:00.0"]


def test_a_burst_is_one_finding():
    finding = assert_finds("gpu.ecc.uncontained", "".join(xid(95, "Uncontained", at=100 + n) for n in range(500)))
    assert finding.count == 500
    assert len(finding.evidence) == 20


def test_nvlink5_lines_say_themselves_how_bad_they_are():
    registers = "XC0 i0 Link 07 (0x021425c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)"
    assert_finds("gpu.nvlink.error", xid(149, f"NETIR_LINK_EVT  Fatal   {registers}"))
    assert_finds("gpu.nvlink.degraded", xid(149, f"NETIR_BER_EVENT Nonfatal {registers}"))


def test_before_ampere_xid_63_is_page_retirement():
    assert_finds(
        "gpu.page_retirement.pending", xid(63, "Dynamic Page Retirement: New page retired, reboot to activate")
    )


def test_a_mig_slice_names_its_board():
    assert (
        assert_finds("gpu.app.mmu_fault", xid(31, "Ch 00000010", pci="0000:5e:00 GPU-I:05")).component == "0000:5e:00.0"
    )


@pytest.mark.parametrize("number", [43, 45])
def test_a_stopped_channel_alone_is_only_noted(number: int):
    (note,) = assert_quiet(xid(number, "Ch 00000010")).findings
    assert note.fault == "gpu.app.channel_stopped"


def test_injected_and_fake_errors_are_only_noted():
    assert_quiet(xid(14, "fake"))
    assert_quiet(xid(149, "NETIR_LINK_EVT Fatal XC0 injected Link 07 (0x1)"))


@pytest.mark.parametrize(
    "line",
    [
        "2026/05/11 10:35:49 INFO condition Message: kernel: [16450076.435595] NVRM: Xid (PCI:0000:5e:00): 119, pid=1",
        "Feb 24 10:58:12 gn-7 watcher[99]: NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus.",
        'Feb 24 10:58:12 gn-7 watcher[99]: level=info msg="NVRM: Xid (PCI:0000:5e:00): 79"',
        '{"MESSAGE":"NVRM: Xid (PCI:0000:5e:00): 79, pid=1","_TRANSPORT":"journal","SYSLOG_IDENTIFIER":"watcher"}',
        "see the wiki on NVRM: Xid (PCI:0000:5e:00): 79",
    ],
)
def test_a_quoted_xid_is_silent(line: str):
    assert assert_quiet(line + "\n" + "[ 1.000000] usb 1-1: new device\n").findings == ()


def test_xids_in_the_forms_of_all_drivers():
    for form in (
        "NVRM: Xid (0000:5e:00): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:5e:00): 79, pid=<unknown>, name=<unknown>, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:5e:00 GPU-I:05 GPU-CI:00): 79, pid=7, GPU has fallen off the bus.",
    ):
        assert assert_finds("gpu.off_bus", f"[  100.000000] {form}\n").component == "0000:5e:00.0"


@pytest.mark.parametrize("number", range(1, 177))
def test_every_xid_has_its_documented_actions_apart_or_says_that_there_are_none(number: int):
    (finding,) = diagnosis_of(xid(number, "details")).findings
    known, said = faults.xid(number), finding.authorities["nvidia"]
    assert known.immediate in said
    assert (f"investigate: {known.investigatory}" in said) == bool(known.investigatory)
    assert (said == "no action is documented") == (not known.immediate and not known.investigatory)


@pytest.mark.parametrize("known", faults.all_sxids(), ids=lambda known: str(known.number))
def test_an_sxid_says_how_its_severity_is_known(known: faults.Sxid):
    (finding,) = diagnosis_of(
        f"[ 5.100000] nvidia-nvswitch2: SXid (PCI:0000:c5:00.0): {known.number}, Link 3 something"
    ).findings
    assert ("by its name only" in finding.detail) == (known.basis == "name")
    assert (finding.authorities["nvidia"] == known.action) == (known.basis == "documented" and bool(known.action))


def test_the_registers_of_nvlink5_are_decoded():
    rest = "0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)"
    peer = assert_finds("gpu.nvlink.error", xid(149, f"NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 {rest}"))
    assert peer.authorities["nvidia"] == "RESET_GPU; investigate: INVESTIGATE_PEER_DEVICE"
    assert "link 1" in peer.detail
    quiet = assert_finds(
        "gpu.nvlink.degraded", xid(145, "RLW_RXPIPE Nonfatal XC0 i0 Link 05 (0x0409a0c2 0x00000008 0x1)")
    )
    assert quiet.authorities["nvidia"] == "IGNORE; investigate: CONTACT_SUPPORT"
    assert_finds("gpu.nvlink.degraded", xid(145, "RLW_RSPCOL XC0 i0 Link 05 (0x00000005 0x00000001)"))
    assert_finds("gpu.nvlink.error", xid(145, "RLW_RSPCOL XC0 i0 Link 05 (0x00000005 0x00000002)"))


@pytest.mark.parametrize(
    "text", ["NETIR_LINK_EVT Fatal XC0 i1 Link 07 (0x1)", "NETIR_LINK_EVT Fatal XC 1 i 2 Link 01 [0x0000000a]"]
)
def test_an_injected_error_is_a_note_that_says_so(text: str):
    (note,) = assert_quiet(xid(149, text)).findings
    assert "injected by a test" in note.detail


def test_the_registers_of_xid_74_are_decoded():
    text = "NVLink: fatal error detected on link 14({}, 0x0, {}, 0x0, {}, 0x0, 0x0)"
    finding = assert_finds("gpu.nvlink.error", xid(74, text.format("0x0", "0x10000", "0x0")))
    assert "register 3: if repeated" in finding.detail
    assert_quiet(xid(74, text.format("0x1", "0x0", "0x0")))
    assert_finds("gpu.nvlink.degraded", xid(74, text.format("0x0", "0x0", "0x100000")))
    assert_finds("gpu.nvlink.error", xid(74, text.format("0x80000001", "0x0", "0x0")))


def test_others_than_nvidia_are_quoted_where_they_differ():
    assert set(assert_finds("gpu.app.exception", xid(69, "Class Error")).authorities) == {"nvidia", "gpud", "azure"}


def test_a_recovery_action_that_is_taken_back_is_a_note():
    assert_quiet(xid(154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"))


def test_a_ticket_quotes_the_kernel_after_a_label():
    line = "NVRM: Xid (PCI:0000:5e:00): 95, pid=77, Uncontained: LTC TAG. RST: Yes, D-RST: No"
    assert assert_finds("gpu.ecc.uncontained", f"Fault detail:new lines: 12;{line}\n").component == "0000:5e:00.0"
    alert = assert_finds("gpu.ecc.uncontained", f"Alert for n7, Error: Mar  2 10:00:00 n7 kernel: [680.51] {line}\n")
    assert alert.node == "n7"
    assert_quiet(f"the rule looks for '{line}' in the journal\n")
    assert_quiet(f"When you see {line} you should reset\n")


def test_a_follower_that_names_an_unseen_xid_is_the_sign_of_it():
    follower = xid(45, "Ch 00000003 caused by previous Xid 145")
    assert assert_finds("gpu.nvlink.error", follower).confidence == "medium"
    nonfatal = xid(145, "RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000000)")
    assert_finds("gpu.nvlink.degraded", nonfatal + follower)
    assert_quiet(xid(45, "Ch 00000003 caused by previous Xid 43"))


def test_a_board_that_cannot_be_set_up_after_its_microcontroller_halted():
    text = (
        xid(62, "0c83(1870) 00000000")
        + "[  112.000000] NVRM: GPU 0000:5e:00.0: RmInitAdapter failed! (0x26:0x1a:1227)\n"
    )
    assert followers(assert_finds("gpu.microcontroller", text)) == ["gpu.init_failed"]


def test_no_spare_row_explains_the_contained_error():
    text = xid(64, "Row Remapper Error: (0x2eebc4100) - All reserved rows for bank are remapped") + xid(
        94, "Ch 00000008"
    )
    assert followers(assert_finds("gpu.row_remap.failed", text)) == ["gpu.ecc.contained"]


def test_a_time_of_day_is_no_address():
    text = (
        "[   14.500000] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  (root@n7)  Fri Jul  3 11:27:00 AM\n"
        "[   24.000000] NVRM: GPU6 _kgspIsHeartbeatTimedOut: Heartbeat timed out, diff 6070 timeout 5200\n"
    )
    assert assert_finds("gpu.gsp", text).component == "GPU 6"
