"""Tasks that wait where nothing can wake them, as ps and top show them."""

from dataclasses import replace

from diagnostics.engine import catalog
from diagnostics.engine.parsers import processes
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import EvidenceLine, Observation, Role


def blocked(log: Log, *, source_name: str) -> list[Observation]:
    waiting = [one for one in processes.processes(log.text) if one.state.startswith("D") and not one.is_kernel_thread]
    role: Role = "root" if len(waiting) >= catalog.thresholds()["host"]["waiting_tasks"] else "note"
    seen = Observation("os.hung_task", EvidenceLine(0, ""), source_name, role=role, confidence="medium")
    return [
        replace(
            seen,
            line=EvidenceLine(one.number, one.raw),
            order=one.number,
            detail=f"{len(waiting)} tasks in state D at one look",
        )
        for one in waiting
    ]
