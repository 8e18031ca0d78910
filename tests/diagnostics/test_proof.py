"""When does a run prove a repair? A table."""

import pytest

from diagnostics.queries import Answer, judge_proof

KERNEL_CLEAN = Answer("kernel_log", True, "clean")
KERNEL_SILENT = Answer("kernel_log", True, "could_not_check", "no permission")
GPU_CLEAN = Answer("nvml", True, "clean")
GPU_ABSENT = Answer("nvml", True, "not_supported", "no driver")
DISK_FULL = Answer("disk", False, "findings")
DISK_SILENT = Answer("disk", False, "could_not_check")
OFF_BUS = ("gpu.off_bus", "0000:91:00.0")


@pytest.mark.parametrize(
    ("answers", "roots", "gaps", "has_gpus", "passed", "words"),
    [
        ([KERNEL_CLEAN, GPU_CLEAN], [], [], True, True, "kernel_log, nvml"),
        ([KERNEL_CLEAN, GPU_ABSENT], [], [], False, True, "Not supported on this node: nvml"),
        ([KERNEL_CLEAN, GPU_ABSENT], [], [], True, None, "no driver"),
        ([KERNEL_SILENT, GPU_CLEAN], [], [], True, None, "no permission"),
        ([KERNEL_CLEAN, GPU_CLEAN], [OFF_BUS], [], True, False, "gpu.off_bus 0000:91:00.0"),
        ([KERNEL_CLEAN, GPU_CLEAN], [], ["field could not be read"], True, None, "field could not be read"),
        ([KERNEL_CLEAN, GPU_CLEAN, DISK_FULL], [], [], True, True, "Clean for gpu.presence"),
        ([KERNEL_CLEAN, GPU_CLEAN, DISK_SILENT], [], [], True, True, "Clean for gpu.presence"),
        ([GPU_ABSENT], [], [], False, None, "No probe"),
        ([DISK_FULL], [], [], False, None, "No probe"),
        ([], [], [], False, None, "No probe"),
        ([Answer("kernel_log", True, "")], [], [], False, None, "could not be checked"),
        ([Answer("kernel_log", True, "findings")], [], [], False, True, "kernel_log"),
    ],
)
def test_a_repair_is_proved_only_by_those_that_could_have_seen_the_fault(answers, roots, gaps, has_gpus, passed, words):
    proof = judge_proof("gpu.presence", answers, roots, gaps, has_gpus=has_gpus)
    assert (proof.passed, words in proof.reason) == (passed, True), proof.reason
