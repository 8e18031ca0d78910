"""A login that is let in but gets no session, as ssh -v tells it."""

from diagnostics.engine import catalog
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import ssh_trace
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Observation


def hangs(log: Log, *, source_name: str) -> list[Observation]:
    seen = ssh_trace.waited(log.text)
    if seen is None or 0 < seen.seconds < catalog.thresholds()["host"]["login_s"]:
        return []
    detail = f"no answer for {seen.seconds:.0f} s" if seen.seconds else "no answer until it was stopped"
    return [
        Observation("os.session_hang", seen.line, source_name, node=seen.host, detail=detail, order=seen.line.number)
    ]


FORMATS = {"ssh-trace": Format("a login", (hangs,), of("os.hang"), has_log=True)}
