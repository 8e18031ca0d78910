"""What training jobs print."""

from diagnostics.engine.parsers.recognise import TextKinds, any_of

TEXT_KINDS: TextKinds = (
    (
        "job-log",
        any_of(
            "NCCL WARN",
            "NCCL INFO",
            "ProcessGroupNCCL",
            "Traceback (most recent call last)",
            "torch.distributed",
            "[rank0]:",
        ),
    ),
)
