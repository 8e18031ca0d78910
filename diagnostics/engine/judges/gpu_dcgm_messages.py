"""What a message of DCGM says of a GPU, in whichever of its prints it stands."""

import re

from diagnostics.engine.catalog import dcgm as catalog
from diagnostics.engine.judges.gpu_dcgm_codes import said_by
from diagnostics.engine.types import EvidenceLine, Observation

GPU = re.compile(r"GPU(?:s|Id)?:?\s?(\d+)")
_IN_USE = re.compile(r"busy or unavailable", re.IGNORECASE)
_SAID = 300


def of_message(text: str, number: int | None, gpu: str, line: EvidenceLine, source_name: str) -> list[Observation]:
    """`number` is DCGM's error code, which counts where the text is not known: versions number apart."""
    if _IN_USE.search(text):  # the test ran on a GPU that somebody used
        return [say("job.cuda.unavailable", gpu, line, source_name, detail=text)]
    error = catalog.of_message(text) or (catalog.by_number().get(number) if number is not None else None)
    if error is None:
        return []
    return [say(fault, gpu, line, source_name, **{"detail": text} | fields) for fault, fields in said_by(error, text)]


def say(fault: str, gpu: str, line: EvidenceLine, source_name: str, *, detail: str, **more: object) -> Observation:
    component = f"GPU {gpu}" if gpu.isdigit() else gpu if gpu.startswith("NvSwitch") else None
    return Observation(
        fault, line, source_name, component=component, detail=detail[:_SAID], order=line.number, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
