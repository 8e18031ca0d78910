"""Whatever is thrown at it, the engine answers."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.engine import catalog
from diagnostics.engine.diagnose import Part, diagnose

from .helpers import assert_finds, diagnosis_of

XID = b"[ 1.000000] NVRM: Xid (PCI:0000:5e:00): 79, pid=1, GPU has fallen off the bus."


@pytest.mark.parametrize(
    "data",
    [XID + b"\r\n", b"\x1b[31m" + XID + b"\x1b[0m\n", b"\xff\xfe\x80 broken \xc3\n" + XID, b"\xef\xbb\xbf" + XID,
     XID.decode().encode("utf-16"), b"\0" * 4096 + b"\n" + XID, XID + b" " + b"x" * 10_000_000, b"x" * 10_000_000 + b"\n" + XID],
    ids=["crlf", "colours", "broken utf-8", "utf-8 mark", "utf-16", "nul padding", "long tail", "long line before"],
)  # fmt: skip
def test_the_fault_is_found_in_damaged_text(data: bytes):
    assert_finds("gpu.off_bus", data)


@pytest.mark.parametrize(
    "data", [b"[" * 1_000_000, b'{"a":' * 1_000_000, b"x" * 10_000_000, b"\n" * 1_000_000, b"NVRM: Xid (" * 500_000]
)
def test_nonsense_is_survived_in_bounded_time(data: bytes):
    began = time.monotonic()
    diagnosis_of(data)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "data",
    [b'{"schema":"sickbay.nvml/1"}', b'{"schema":"sickbay.nvml/1","gpus":[1,null,{}]}', b'{"schema":"sickbay.nvml/1","gpus":{"a":1}}',
     b'{"schema":"sickbay.disk/1","filesystems":[{"mount":null}]}', b'{"schema":"sickbay.memory/1","meminfo":[],"edac":3}',
     b'{"smartctl":[],"device":"sda"}', b'{"smartctl":{"messages":"x"}}', b'{"Members":[{"Created":1}],"Events":3}',
     b'{"@odata.id":"x","Fans":[{"Status":"bad"}],"Message":7}', b'[{"MESSAGE":null},{"MESSAGE":[999,"a"]}]', b'{"dmesg":[1,2]}',
     b'<?xml version="1.0"?><nvidia_smi_log><gpu>', b'<!DOCTYPE a [<!ENTITY b "c">]><nvidia_smi_log>&b;</nvidia_smi_log>'],
)  # fmt: skip
def test_documents_in_the_wrong_shape_are_survived(data: bytes):
    found = diagnosis_of(data)
    assert found.checked or found.could_not_check


EXAMPLES = [example for signature in catalog.signatures() for example in signature.positive]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=6), st.integers(0, 400), st.binary(max_size=20))
def test_cut_and_spliced_lines_never_raise(lines: list[str], at: int, splice: bytes):
    text = "\n".join(lines).encode()
    diagnosis_of(text[:at] + splice + text[at:])


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_answered(data: bytes):
    found = diagnosis_of(data)
    assert found.checked or found.could_not_check


CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").rglob("*") if path.is_file())


@pytest.mark.parametrize("path", CORPUS[::40], ids=lambda path: path.name)
def test_evidence_that_lost_its_line_ends_costs_no_more_than_its_length(path: Path):
    text = path.read_bytes().replace(b"\n", b" ") or b"x"
    began = time.process_time()
    diagnosis_of(text * (200_000 // len(text) + 1))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "line",
    [
        b'{"MESSAGE":"NVRM: Xid (PCI:0000:3b:00): 79, x","_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"\xc2\xb2"}',
        b"9999-12-31 23:59:59 gn1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
        b"9999-12-31T23:59:59.0Z stderr F Dec  1 03:04:05 gn1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, x",
        b"[ 100.2] EDAC MC0: " + b"9" * 5000 + b" CE memory read error on DIMM_A1 (channel:0 slot:0)",
    ],
    ids=["digit", "year", "collector's year", "count"],
)
def test_one_odd_line_hides_nothing_of_the_others(line: bytes):
    answer = diagnose(
        [Part("log", XID + b"\n" + line + b"\n")], path="log", live_since=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert "0000:5e:00.0" in {finding.component for finding in answer.findings if finding.fault == "gpu.off_bus"}
