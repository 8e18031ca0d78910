"""GPUs in a table of readings: one that differs from its peers."""

from diagnostics.engine.judges import gpu_peers, gpu_samples
from diagnostics.engine.judges.gpu_speaker import Speaker
from diagnostics.engine.parsers import gpu_columns as parser
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation


def judge(log: Log, *, source_name: str) -> list[Observation]:
    say = Speaker(source_name)
    gpu_peers.judge(gpu_samples.boards(parser.readings(log.text)), say)
    return say.found
