"""What diagnostics announces."""

from incidents import events

RUN_FINISHED = "run_finished"

events.declare(RUN_FINISHED, "A diagnostic run was judged. payload: run, purpose, incident, node")
