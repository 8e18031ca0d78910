"""Against a real driver, where there is one."""

import json
from pathlib import Path

import pytest

from diagnostics.engine.diagnose import Part, diagnose
from diagnostics.probes import nvml
from diagnostics.probes.base import Context
from diagnostics.probes.transports.local import Local

pytestmark = pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no NVIDIA driver on this machine")


def test_a_real_gpu_is_read_in_full():
    output = nvml.read(Context(Local()))
    assert output.status == "ok", output.reason
    document = json.loads(output.evidence[0].data)
    assert document["gpus"]
    for gpu in document["gpus"]:
        assert not gpu["lost"], gpu["errors"]
        assert gpu["uuid"].startswith("GPU-")
        assert gpu["temperature_c"] > 0
        assert not gpu["errors"], gpu["errors"]


def test_the_engine_reads_what_the_probe_wrote():
    (evidence,) = nvml.read(Context(Local())).evidence
    diagnosis = diagnose([Part(evidence.name, evidence.data)], path="here")
    assert diagnosis.kind == "sickbay.nvml"
    assert diagnosis.checked
