import pytest

from incidents.domain import faults

SEVERITIES = {"SEV1", "SEV2", "SEV3", "SEV4"}
WAYS_TO_VERIFY = {"probe", "job_progress", "by_person", "none"}


def test_every_fault_is_complete():
    for fault in faults.all_faults():
        assert all((fault.title, fault.title_zh, fault.first_action)), fault.code
        assert fault.severity in SEVERITIES, fault.code
        assert fault.verify in WAYS_TO_VERIFY, fault.code
        assert fault.family.split(".")[0] in {
            "gpu",
            "host",
            "os",
            "bmc",
            "container",
            "fabric",
            "facility",
            "node",
            "job",
        }


def test_codes_are_unique_and_found_again():
    codes = [fault.code for fault in faults.all_faults()]
    assert len(codes) == len(set(codes)) > 100
    assert all(faults.get(code).code == code for code in codes)


def test_a_fault_speaks_two_languages():
    fault = faults.get("gpu.off_bus")
    assert fault.title_in("en") == "GPU fallen off the bus"
    assert fault.title_in("zh-hans") == fault.title_in("zh_Hans") == "GPU 掉卡"


def test_an_unknown_code_is_refused_in_words():
    with pytest.raises(KeyError, match=r"no fault 'gpu\.on_fire'"):
        faults.get("gpu.on_fire")


def test_every_xid_of_the_catalogue_stands_for_a_fault():
    assert [xid.number for xid in faults.all_xids()] == list(range(1, 177))
    for xid in faults.all_xids():
        assert faults.for_xid(xid.number).code == xid.fault
        assert all((xid.mnemonic, xid.meaning)), xid.number
        assert xid.fatal in {"yes", "no", "depends", "unknown"}


def test_every_sxid_of_the_catalogue_stands_for_a_fault():
    assert len(faults.all_sxids()) == 399
    for sxid in faults.all_sxids():
        assert faults.for_sxid(sxid.number).code in {"gpu.nvswitch.error", "gpu.nvswitch.nonfatal"}
        assert sxid.basis in {"documented", "name"}


def test_a_number_that_nobody_documented_is_unclassified_and_never_nothing():
    assert faults.for_xid(9999).code == "node.unclassified"
    assert faults.for_sxid(99999).code == "node.unclassified"


@pytest.mark.parametrize(
    ("number", "fault", "action"),
    [(79, "gpu.off_bus", "RESTART_BM"), (48, "gpu.ecc.uncorrectable", "WORKFLOW_XID_48"), (94, "gpu.ecc.contained", "RESTART_APP"),
     (45, "gpu.app.channel_stopped", "WORKFLOW_XID_45"), (119, "gpu.gsp", "RESET_GPU"), (31, "gpu.app.mmu_fault", "RESTART_APP")],
)  # fmt: skip
def test_an_xid_carries_its_documented_action(number: int, fault: str, action: str):
    assert (faults.xid(number).fault, faults.xid(number).immediate) == (fault, action)
