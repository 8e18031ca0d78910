"""What runs under the supervisor, in the order in which it starts. Standard library only."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from config import env as environment
from config import startup, valkey


@dataclass(frozen=True)
class Program:
    """What to run. `before` comes ahead of each start; `ready` holds up the next program, at most `within` seconds."""

    name: str
    command: tuple[str, ...]
    before: Callable[[], object] = lambda: None
    ready: Callable[[], bool] = lambda: True
    within: float = 0.0
    once: bool = False  # a step: has to end with 0 before the next program starts
    foundation: bool = False  # the others lean on it: stopped last
    private: bool = False  # prints a secret: to the console only


def table(env: environment.Environment, data: Path) -> list[Program]:
    """Pager and web come first: what is urgent does not wait for Celery."""
    broker = environment.broker(env, data)
    manage = (sys.executable, "manage.py")
    return [
        *([embedded_valkey(data, broker)] if broker.embedded else []),
        Program("migrate", (*manage, "migrate", "--no-input", "-v", "0"), once=True),
        *([Program("static", (*manage, "collectstatic", "--no-input", "-v", "0"), once=True)] if stale(data) else []),
        Program("setup", (*manage, "setup"), once=True, private=True),
        Program("pager", (*manage, "pager")),
        web(env, data),
        worker(env),
        beat(data),
    ]


def stale(data: Path) -> bool:
    """Whether the collected static files are older than our own, or than the packages that bring some."""
    manifest = data / "static" / "staticfiles.json"
    sources = [environment.ROOT / "requirements" / "lock.txt", *(environment.ROOT / "static").rglob("*")]
    return not manifest.exists() or any(path.stat().st_mtime > manifest.stat().st_mtime for path in sources)


def embedded_valkey(data: Path, broker: environment.Broker) -> Program:
    binary = valkey.server_binary()
    if not binary:
        raise startup.CannotStart(valkey.WHAT_TO_INSTALL)
    return Program(
        "valkey",
        (str(binary), str(data / "run" / "valkey.conf")),
        before=lambda: valkey.write_configuration(data, broker),
        ready=lambda: valkey.answers(broker),
        within=10,  # then go on: alerts are taken without it
        foundation=True,
    )


def worker(env: environment.Environment) -> Program:
    concurrency = env.integer("WORKER_CONCURRENCY", 4, low=1, high=256)
    options = ("--concurrency", str(concurrency), "--without-gossip", "--without-mingle", "--loglevel", "warning")
    return Program("worker", (*celery(), "worker", *options))


def beat(data: Path) -> Program:
    schedule = str(data / "run" / "celerybeat-schedule")
    return Program("beat", (*celery(), "beat", "--schedule", schedule, "--pidfile=", "--loglevel", "warning"))


def celery() -> tuple[str, ...]:
    return (sys.executable, "-m", "celery", "--quiet", "-A", "config")


def web(env: environment.Environment, data: Path) -> Program:
    host, port = startup.address(env)
    # gunicorn kills workers whose heartbeat file stalls on a slow disk, though they are well.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(data / "run")  # noqa: S108
    options = {
        "bind": f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
        "workers": str(env.integer("WEB_WORKERS", 2, low=1, high=64)),
        "worker-class": "config.web.PatientWorker",
        "threads": "8",
        "worker-tmp-dir": memory,
        "graceful-timeout": "8",
        "log-level": "warning",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    flags = ("--preload", "--no-control-socket")
    command = (sys.executable, "-m", "gunicorn", "config.wsgi:application", *flags, *arguments)
    return Program("web", command, ready=lambda: startup.answers(env), within=30)
