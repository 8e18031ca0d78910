"""GPUs as DCGM's tools list and sample them: dcgmi nvlink, dmon, discovery."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diagnostics.engine import catalog, components
from diagnostics.engine.judges import gpu_peers, gpu_samples, gpu_xid_meaning
from diagnostics.engine.judges.gpu_dcgm_messages import say
from diagnostics.engine.judges.gpu_speaker import Speaker, limits_of_gpu
from diagnostics.engine.parsers import dcgm as parser
from diagnostics.engine.parsers.dcgm import LinkRow, Sample
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.nvidia_smi import Setting
from diagnostics.engine.types import Confidence, EvidenceLine, Observation
from incidents.domain.hardware import PartFacts


def links(log: Log, *, source_name: str) -> list[Observation]:
    """As for nvidia-smi: all down is a board without a bridge, unless a neighbour has links. Ports of a switch may well be unused."""
    states: dict[str, list[LinkRow]] = defaultdict(list)
    for row in parser.link_rows(log.text):
        if row.is_gpu:
            states[row.index].append(row)
    letters = ["".join(row.states for row in rows) for rows in states.values()]
    if any("U" in one for one in letters):
        return _down(states, source_name, "high")
    least = catalog.thresholds()["gpu_nvlink"]["all_down_links"]
    is_sure = len(letters) > 1 and all(one.count("D") >= least for one in letters)
    return _down(states, source_name, "medium") if is_sure else []


def _down(states: Mapping[str, Sequence[LinkRow]], source_name: str, confidence: Confidence) -> list[Observation]:
    found = []
    for index, rows in states.items():
        row = next((row for row in rows if "D" in row.states), None)
        if row:
            down = sum(row.states.count("D") for row in rows)
            line = EvidenceLine(row.number, row.raw)
            detail = f"{down} links down"
            found.append(
                say("gpu.nvlink.error", index, line, source_name, detail=detail, confidence=confidence, count=down)
            )
    return found


_REASONS = "DVCCTR"  # field 112, the bits of the clocks event reasons
_XID = "XIDER"  # field 230, the last Xid


def monitor(log: Log, *, source_name: str) -> list[Observation]:
    """Only the reasons for which the clocks are low say what is well: the last sample of each GPU."""
    last = {sample.gpu: sample for sample in parser.samples(log.text)}
    limits = limits_of_gpu()
    found = []
    for gpu, sample in last.items():
        bits = int(sample.values[_REASONS]) if sample.values.get(_REASONS, "").isdigit() else 0
        for bit, fault in (
            (limits["thermal_bits"], "gpu.thermal.slowdown"),
            (limits["power_brake_bit"], "gpu.power.brake"),
        ):
            if bits & bit:
                found.append(
                    say(fault, gpu, EvidenceLine(sample.number, sample.raw), source_name, detail=f"reasons {bits:#x}")
                )
        found += _xid(sample, source_name)
    peers = Speaker(source_name)
    gpu_peers.judge(gpu_samples.boards(_readings(log.text)), peers)
    return found + peers.found


def _xid(sample: Sample, source_name: str) -> list[Observation]:
    value = sample.values.get(_XID, "")
    number = int(value) if value.isdigit() else 0
    if number not in gpu_xid_meaning.NUMBERS:
        return []
    means = gpu_xid_meaning.of_xid(number)
    return [say(means.fault, sample.gpu, EvidenceLine(sample.number, sample.raw), source_name, **means.fields())]


_READINGS = {
    "SMCLK": "clocks/sm", "POWER": "power/draw", "GPUTL": "utilization/gpu", "FBUSD": "memory/used", "SMACT": "profiling/sm_active",
}  # fmt: skip


def _readings(text: str) -> Iterator[Setting]:
    for sample in parser.samples(text):
        for name, value in sample.values.items():
            if path := _READINGS.get(name):
                yield Setting(f"GPU {sample.gpu}", path, value, sample.number, sample.raw)
        if (bits := sample.values.get(_REASONS, "")).isdigit():
            yield Setting(f"GPU {sample.gpu}", "clocks_event_reasons_active", hex(int(bits)), sample.number, sample.raw)


_NONE_FOUND = re.compile(r"(?m:^0 GPUs? found\.)")


def discovery(log: Log, *, source_name: str) -> list[Observation]:
    match = _NONE_FOUND.search(log.text)
    if not match:
        return []
    line = EvidenceLine(log.text.count("\n", 0, match.start()) + 1, match.group())
    return [Observation("gpu.count_mismatch", line, source_name, confidence="medium", order=line.number)]


def parts(log: Log) -> list[PartFacts]:
    return [
        PartFacts(
            "gpu", index, model=facts.get("Name", ""), uuid=facts["Device UUID"],
            pci_address=components.pci(facts.get("PCI Bus ID", ""), board=True) or "",
        )
        for index, facts in parser.discovered(log.text).items()
    ]  # fmt: skip


def parts_of_json(document: JsonText) -> list[PartFacts]:
    """DCGM 4 lists what it tested, with serial numbers."""
    root: dict[str, Any] = next(
        (document.value[name] for name in ("DCGM Diagnostic", "DCGM GPU Diagnostic") if name in document.value), {}
    )
    groups = root.get("entity_groups") or document.value.get("entity_groups") or []
    return [
        PartFacts("gpu", str(entity["entity_id"]), serial=str(entity.get("serial_num", "")))
        for group in groups
        if isinstance(group, dict) and group.get("entity_group") == "GPU"
        for entity in group.get("entities") or []
        if isinstance(entity, dict) and "entity_id" in entity
    ]
