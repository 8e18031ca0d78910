"""One command that runs all of Sickbay (`python -m config.supervisor`); what that is stands in `config.programs`.

A child that dies is started again; nothing outlives the supervisor, not even after `kill -9` (see `config.processes`).
One thread: the parent-death signal of Linux belongs to the thread that made the child. Standard library only.
"""

import logging
import math
import os
import secrets
import select
import selectors
import signal
import subprocess
import sys
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

from config import env as environment
from config import processes, programs, startup
from config.programs import Program

FIRST_DELAY, LONGEST_DELAY, STEADY_AFTER = 0.5, 10.0, 30.0  # seconds
PATIENCE = 10.0  # seconds between "please end" and "end"
LOG_BYTES, LOG_FILES, LONGEST_LINE = 10_000_000, 3, 64_000
OF_MAKE = ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")
logging.raiseExceptions = False  # a full disk must not fill the console with tracebacks


class Child:
    """A program's life: its process, when it started, when it is due again."""

    def __init__(self, program: Program, log_dir: Path) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.delay = FIRST_DELAY
        self.due_at: float | None = None
        self.log = RotatingFileHandler(
            os.devnull if program.private else log_dir / f"{program.name}.log",
            maxBytes=LOG_BYTES,
            backupCount=LOG_FILES,
            encoding="utf-8",
        )
        self.log.setFormatter(logging.Formatter("%(asctime)s %(message)s"))

    @property
    def pid(self) -> int:
        return self.process.pid if self.process else 0

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def status(self) -> int:
        return (self.process.returncode if self.process else 0) or 0


class Supervisor:
    """Runs programs in order and keeps them running until told to stop."""

    def __init__(self, programs: list[Program], data: Path, *, greeting: str = "running") -> None:
        self.greeting = greeting
        self.run_dir, log_dir = data / "run", data / "log"
        for folder in (self.run_dir, log_dir):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.children = [Child(program, log_dir) for program in programs]
        self.token = secrets.token_hex(16)
        self.environ = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        self.environ |= {"SICKBAY_SUPERVISED": "1", "SICKBAY_DATA_DIR": str(data), processes.TOKEN: self.token}
        # Without the second, a worker told to end waits for its tasks; killed after that, it cannot put them back.
        self.environ |= {"PYTHONUNBUFFERED": "1", "REMAP_SIGTERM": "SIGQUIT"}
        self.selector = selectors.DefaultSelector()
        self.asked_at: float | None = None  # when we were first told to stop
        self.hurry = False
        self.console = True

    def run(self) -> int:
        """Until a signal ends it (0) or a step fails (1)."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, self.on_signal)
        self.guard, self.line_to_guard = processes.start_guard(self.token)
        try:
            done = self.start_all()
            if done and self.asked_at is None:
                self.say(self.greeting)
            while done and self.asked_at is None:
                self.turn()
        finally:
            self.stop_all()
            os.close(self.line_to_guard)
            os.waitpid(self.guard, 0)
        return 0 if done else 1

    def on_signal(self, number: int, _frame: object) -> None:
        now = time.monotonic()
        # make hands on a signal that we had already: only a later, deliberate Ctrl-C means "at once".
        self.hurry |= self.asked_at is not None and number == signal.SIGINT and now - self.asked_at > 0.5
        self.asked_at = self.asked_at or now

    def start_all(self) -> bool:
        """False if a step failed."""
        for child in self.children:
            self.start(child)
            self.wait_for(child)
            if self.asked_at is not None:
                break
            if child.program.once and child.status:
                self.say(f"{child.program.name} {ending(child.status)}: see its lines above. Sickbay did not start.")
                return False
        return True

    def wait_for(self, child: Child) -> None:
        program = child.program
        until = math.inf if program.once else time.monotonic() + program.within
        while self.asked_at is None and time.monotonic() < until:
            if not child.alive if program.once else program.ready():
                break
            self.turn(0.05)
        self.turn(0)
        if program.once:
            self.forget(child)

    def forget(self, child: Child) -> None:
        (self.run_dir / f"{child.program.name}.pid").unlink(missing_ok=True)

    def turn(self, wait: float = 0.2) -> None:
        """Hand on what the children print; start again what has died."""
        for key, _ in self.selector.select(wait):
            self.read(key.fileobj, *key.data)  # type: ignore[arg-type]
        for child in self.children:
            if child.program.once or self.asked_at is not None:
                continue
            if child.due_at is not None and time.monotonic() >= child.due_at:
                self.start(child)
            elif child.due_at is None and child.process and not child.alive:
                self.bury(child)

    def start(self, child: Child) -> None:
        try:
            child.program.before()
            child.process = self.launch(child.program)
        except OSError as error:  # no memory, no disk: it may pass
            self.again(child, f"cannot be started: {error}")
            return
        child.started_at, child.due_at = time.monotonic(), None
        (self.run_dir / f"{child.program.name}.pid").write_text(f"{child.pid}\n", encoding="ascii")
        self.tell_guard()
        self.selector.register(child.process.stdout or 0, selectors.EVENT_READ, (child, bytearray()))

    def launch(self, program: Program) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            program.command,
            cwd=environment.ROOT,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=processes.before_exec(os.getpid()),
        )

    def tell_guard(self) -> None:
        line = " ".join(str(child.pid) for child in self.children if child.process) + "\n"
        try:
            os.write(self.line_to_guard, line.encode())
        except BrokenPipeError:  # somebody ended the guard
            os.close(self.line_to_guard)
            os.waitpid(self.guard, 0)
            self.guard, self.line_to_guard = processes.start_guard(self.token)
            os.write(self.line_to_guard, line.encode())

    def bury(self, child: Child) -> None:
        """End what the dead child left behind (a web worker would keep the port) and say when it starts again."""
        processes.end(lambda: processes.remains({child.pid}), patience=0)
        if time.monotonic() - child.started_at >= STEADY_AFTER:
            child.delay = FIRST_DELAY
        self.again(child, ending(child.status))

    def again(self, child: Child, why: str) -> None:
        self.say(f"{child.program.name} {why}; next start in {child.delay:g} s")
        child.due_at = time.monotonic() + child.delay
        child.delay = min(child.delay * 2, LONGEST_DELAY)

    def stop_all(self) -> None:
        """Ask all, the foundation last; after ten seconds, or a second Ctrl-C, do not ask any more."""
        self.asked_at = self.asked_at or time.monotonic()
        self.say("stopping (Ctrl-C again: at once)")
        self.stop([child for child in reversed(self.children) if not child.program.foundation])
        self.stop([child for child in reversed(self.children) if child.program.foundation])
        self.say("stopped")

    def stop(self, wave: list[Child]) -> None:
        for child in wave:
            if child.alive:
                processes.tell(child.pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while any(child.alive for child in wave) and time.monotonic() < until and not self.hurry:
            self.turn(0.05)
        for name in [child.program.name for child in wave if child.alive]:
            self.say(f"{name} did not end when asked; killed")
        processes.end(lambda: processes.remains({child.pid for child in wave if child.process}), patience=0)
        for child in wave:
            if child.process:
                child.process.wait()
            self.forget(child)
        self.turn(0)

    def read(self, pipe: IO[bytes], child: Child, rest: bytearray) -> None:
        chunk = os.read(pipe.fileno(), 65536)
        *lines, tail = bytes(rest + chunk).split(b"\n")
        if tail and (not chunk or len(tail) > LONGEST_LINE):
            lines, tail = [*lines, tail], b""
        rest[:] = tail
        for line in lines:
            text = line.decode("utf-8", "replace").rstrip("\r")
            child.log.handle(logging.makeLogRecord({"msg": text}))
            self.show(child.program.name, text)
        if not chunk:
            self.selector.unregister(pipe)
            pipe.close()

    def say(self, text: str) -> None:
        self.show("sickbay", text)

    def show(self, name: str, text: str) -> None:
        """A line on the console, dropped if nobody takes it: a paused terminal must not stop the service."""
        try:
            if self.console and select.select([], [1], [], 0)[1]:
                os.write(1, f"{name:<7} | {text}\n".encode())
        except OSError:
            self.console = False


def ending(status: int) -> str:
    return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"


def main() -> int:
    """Run until stopped; 1, with one line that says what to do, if that cannot be."""
    os.umask(0o077)
    if "MAKELEVEL" in os.environ:
        processes.end_with_parent()  # `make` was killed: what it ran must not go on unseen
    env = environment.load()
    data = environment.data_dir(env.values)
    try:
        startup.make_ours(data)
        startup.claim(data, startup.url(env))
        table = programs.table(env, data)
        startup.check_values(env)
        startup.check_free(env)
    except startup.CannotStart as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print(f"Sickbay will answer at {startup.url(env)} (data in {data}; Ctrl-C stops it)", flush=True)
    return Supervisor(table, data, greeting=f"ready: {startup.url(env)} (first time? sign in by the link above)").run()


if __name__ == "__main__":
    sys.exit(main())
