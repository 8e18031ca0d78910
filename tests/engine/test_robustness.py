"""Whatever is thrown at it, the engine answers."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.engine import catalog
from diagnostics.engine.diagnose import Part, diagnose
from diagnostics.engine.judges.formats import formats
from diagnostics.engine.judges.gpu_xids import Xids
from diagnostics.engine.judges.tally import Hit
from diagnostics.engine.parsers import log_line, nvidia_smi
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.log_line import LogLine
from diagnostics.engine.types import Observation

from .helpers import assert_finds, diagnosis_of, roots

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


SMI_XML = '<?xml version="1.0"?>\n<nvidia_smi_log>\n<gpu id="00000000:1B:00.0">\n'
PENDING = "<remapped_rows>\n<remapped_row_pending>Yes</remapped_row_pending>\n</remapped_rows>\n"


def test_tags_that_are_never_closed_hide_nothing_before_them_and_are_told():
    found = diagnosis_of(SMI_XML + PENDING + "<a>1\n" * 5_000)
    assert found.verdict.fault == "gpu.row_remap.pending"
    assert "not read from line 38, 39, 40" in " ".join(check.reason for check in found.could_not_check)


@pytest.mark.parametrize("deep", ["<a>1", "<a>1</a><b>", "<a x='1'>1</b>"])
def test_the_paths_of_an_nvidia_smi_document_stay_short(deep: str):
    settings = nvidia_smi.settings(SMI_XML + PENDING + deep * 2_000)
    assert max(row.path.count("/") for row in settings) < 32


def test_a_key_of_an_nvidia_smi_print_stays_short():
    text = f"==============NVSMI LOG==============\n{'k' * 5_000}\n" + "  v : 1\n" * 50
    assert {row.path for row in nvidia_smi.settings(text)} == {"nvsmi_log/v"}


def stumbling(at: str) -> Callable[..., Iterator[Hit]]:
    """A judge that stumbles over one line."""
    see = Xids.see

    def stumble(judge: Xids, line: LogLine, found: tuple[str, ...], log: Log) -> Iterator[Hit]:
        if at in line.message:
            raise ZeroDivisionError
        yield from see(judge, line, found, log)

    return stumble


def test_a_line_that_a_judge_stumbles_over_hides_nothing_and_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Xids, "see", stumbling("48, odd"))
    odd = b"[ 2.000000] NVRM: Xid (PCI:0000:3b:00): 48, odd"
    found = diagnosis_of(b"\n".join([XID, odd, XID.replace(b"5e", b"6e")]))
    assert {finding.component for finding in found.findings} == {"0000:5e:00.0", "0000:6e:00.0"}
    assert ("part-0", "not understood: line 2 (ZeroDivisionError())") in {
        (one.name, one.reason) for one in found.could_not_check
    }


def test_a_prefix_that_cannot_be_read_hides_nothing_and_is_told(monkeypatch: pytest.MonkeyPatch):
    known = log_line._from_text

    def from_text(raw: str, *, number: int) -> LogLine:
        return known(raw, number=number if number != 2 else 1 // 0)

    monkeypatch.setattr(log_line, "_from_text", from_text)
    found = diagnosis_of(b"\n".join([XID, XID.replace(b"5e", b"3b"), XID.replace(b"5e", b"6e")]))
    assert {"0000:5e:00.0", "0000:6e:00.0"} <= {finding.component for finding in found.findings}
    assert "line 2 (ZeroDivisionError" in " ".join(check.reason for check in found.could_not_check)


def test_a_judge_that_stumbles_over_a_document_hides_nothing_of_its_lines(monkeypatch: pytest.MonkeyPatch):
    def stumble(log: Log, *, source_name: str) -> list[Observation]:
        raise ZeroDivisionError

    form = formats()["nvidia-smi"]
    monkeypatch.setitem(formats(), "nvidia-smi", replace(form, judges=(stumble, *form.judges)))
    found = diagnosis_of(SMI_XML + PENDING + XID.decode())
    assert {finding.fault for finding in found.findings} == {"gpu.row_remap.pending", "gpu.off_bus"}
    assert any(
        "nvidia-smi document is not in the form that it should have" in one.reason for one in found.could_not_check
    )


@pytest.mark.parametrize(
    "line",
    [
        "kernel: [ 12.0] NVRM: Xid (PCI:0000:3b:00): 99999, new",
        "kernel: [ 12.0] NVRM: Xid 79, in a new form",
        "kernel: [ 12.0] nvidia-nvswitch9: SXid (0000:c4): 20034",
        "agent[7]: GPU:3 code=DCGM_FR_BRAND_NEW msg=x",
    ],
)
def test_a_code_that_was_seen_and_not_understood_is_not_clean(line: str):
    found = diagnosis_of(f"Dec  1 03:38:00 gn-1 systemd[1]: Started a job.\nDec  1 03:38:01 gn-1 {line}\n")
    assert found.verdict.state == "could_not_check"
    assert "line 2 names" in found.could_not_check[0].reason


def test_words_about_codes_are_clean():
    line = "Dec  1 03:38:01 gn-1 kernel: [ 12.0] nvidia: reporting of SXid events is on"
    assert diagnosis_of(f"{line}\n{line}\n").verdict.state == "clean"


def test_a_fault_is_found_in_any_stretch_of_a_long_message():
    message = 'could not select device driver "nvidia" with capabilities: [[gpu]]'
    for before in range(0, 4_000, 250):
        line = f"Dec  1 03:38:01 gn-1 dockerd[7]: {'x ' * (before // 2)}{message} {'y ' * 500}"
        assert roots(diagnosis_of(line)), before
