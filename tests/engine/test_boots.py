"""Logs that hold several boots, and journals exported field by field."""

from tests.engine.helpers import diagnosis_of, roots

XID = "NVRM: Xid (PCI:0000:3b:00): {number}, pid=7, name=python3, {text}"
EXPORT = """__CURSOR=s=1
__REALTIME_TIMESTAMP=1771930692123456
_BOOT_ID={boot}
_TRANSPORT={transport}
_HOSTNAME=gn-7
SYSLOG_IDENTIFIER={tag}
MESSAGE=NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.
PRIORITY=3
"""


def test_what_happened_in_another_boot_is_no_consequence():
    before = "[ 9000.0000] " + XID.format(number=48, text="DBE (double bit error)")
    after = "[   40.0000] " + XID.format(number=63, text="Row Remapper: New row marked for remapping")
    one_boot = roots(diagnosis_of(f"{before}\n[ 9001.0000] {after[13:]}\n"))
    assert [finding.fault for finding in one_boot] == ["gpu.ecc.uncorrectable"]
    two_boots = roots(diagnosis_of(f"{before}\n-- Reboot --\n[    0.000000] Linux version 6.8.0\n{after}\n"))
    assert {finding.fault for finding in two_boots} == {"gpu.ecc.uncorrectable", "gpu.row_remap.pending"}
    assert len({finding.boot for finding in two_boots}) == 2


def test_a_clock_that_starts_again_is_another_boot_and_the_same_fault_is_counted():
    text = "".join(
        f"[{uptime:12.6f}] {XID.format(number=79, text='GPU has fallen off the bus.')}\n" for uptime in (9000, 30)
    )
    (finding,) = roots(diagnosis_of(text))
    assert (finding.count, finding.boot) == (2, "2")


def test_an_exported_journal_is_read_field_by_field():
    for indent in ("", "    "):
        kernel = "".join(
            indent + line for line in EXPORT.format(boot="ab" * 16, transport="kernel", tag="kernel").splitlines(True)
        )
        (finding,) = roots(diagnosis_of(kernel + "\n"))
        assert (finding.fault, finding.node, finding.boot) == ("gpu.off_bus", "gn-7", "ab" * 16)
        assert finding.first_at
        assert finding.first_at.year == 2026


def test_a_program_in_an_exported_journal_is_not_the_kernel():
    assert not roots(diagnosis_of(EXPORT.format(boot="ab" * 16, transport="journal", tag="agent") + "\n"))
