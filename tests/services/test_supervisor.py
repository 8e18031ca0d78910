"""The supervisor with small real children: real processes, real signals."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from config import env as environment
from config import processes, startup, valkey

ROOT = environment.ROOT
PYTHON = sys.executable

pytestmark = pytest.mark.skipif(not processes.LINUX, reason="reads /proc to see who is alive")

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
# A daemon as bad as they come: a session of its own, and deaf to SIGTERM.
PARENT_OF_RUNAWAY = f"""
import signal, subprocess, sys, time
deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('runaway', flush=True); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", deaf], start_new_session=True)
{SLEEPER}
"""


def wait_until(fact: Callable[[], object], within: float = 15.0) -> None:
    until = time.monotonic() + within
    while not fact():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


class Running:
    """A supervisor in a process of its own, over the programs of `script`."""

    def __init__(self, data: Path, script: str, **options: object) -> None:
        self.data = data
        self.output = data.parent / "output"
        source = f"""
            import sys
            from pathlib import Path
            from config import supervisor
            from config.programs import Program
            def python(name, source, **options):
                return Program(name, (sys.executable, "-c", source), **options)
            SLEEPER, PARENT_OF_RUNAWAY = {SLEEPER!r}, {PARENT_OF_RUNAWAY!r}
            supervisor.PATIENCE = 2
            sys.exit(supervisor.Supervisor({script}, Path({str(data)!r})).run())
        """
        with self.output.open("wb") as out:
            options = {"stdout": out, "stderr": subprocess.STDOUT, **options}
            self.process = subprocess.Popen([PYTHON, "-c", textwrap.dedent(source)], cwd=ROOT, **options)

    def pid(self, name: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            return int((self.data / "run" / f"{name}.pid").read_text())
        return 0

    def said(self, text: str) -> bool:
        return text in self.output.read_text()

    def family(self) -> list[int]:
        """Whoever lives with our data folder in the environment."""
        mark = f"SICKBAY_DATA_DIR={self.data}".encode()
        return [
            int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and mark in environ_of(entry)
        ]


def environ_of(entry: Path) -> bytes:
    try:
        return (entry / "environ").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(script: str, **options: object) -> Running:
        started.append(Running(tmp_path / "data", script, **options))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
        processes.end(each.family, patience=0)


def test_a_child_that_dies_is_started_again(run):
    running = run("[python('web', SLEEPER)]")
    wait_until(lambda: running.said("up"))
    first = running.pid("web")
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: running.pid("web") not in (0, first))
    assert running.said("web was ended by signal 9; next start in 0.5 s")


def test_a_child_that_keeps_dying_is_started_ever_later(run):
    running = run("[python('worker', 'raise SystemExit(3)')]")
    wait_until(lambda: running.said("worker ended with status 3; next start in 2 s"))
    assert running.said("next start in 0.5 s")
    assert running.said("next start in 1 s")


def test_what_a_dead_child_left_behind_is_ended_before_it_starts_again(run):
    running = run("[python('web', 'import os, time; os.fork(); print(os.getpid(), flush=True); time.sleep(600)')]")
    wait_until(lambda: len(running.family()) == 2)
    first = running.family()
    os.kill(running.pid("web"), signal.SIGKILL)
    wait_until(lambda: len(running.family()) == 2 and not set(first) & set(running.family()))


def test_ctrl_c_stops_everything_and_the_foundation_last(run):
    say = "import signal, sys, time; signal.signal(15, lambda *_: (print('bye', flush=True), sys.exit())); {}"
    running = run(
        f"[python('valkey', {say.format(SLEEPER)!r}, foundation=True), python('web', {say.format(SLEEPER)!r})]"
    )
    wait_until(lambda: running.output.read_text().count("up") == 2)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(10) == 0
    assert running.family() == []
    words = [line for line in running.output.read_text().splitlines() if "bye" in line]
    assert [line.split()[0] for line in words] == ["web", "valkey"]
    assert not list((running.data / "run").glob("*.pid"))


def test_a_child_that_does_not_listen_is_killed_after_a_while(run):
    running = run("[python('worker', 'import signal; signal.signal(15, signal.SIG_IGN); ' + SLEEPER)]")
    wait_until(lambda: running.said("up"))
    running.process.terminate()
    assert running.process.wait(10) == 0
    assert running.said("worker did not end when asked; killed")
    assert running.family() == []


@pytest.mark.parametrize("script", ["[python('web', SLEEPER)]", "[python('worker', PARENT_OF_RUNAWAY)]"])
def test_nothing_outlives_a_supervisor_that_was_killed(run, script):
    running = run(script)
    wait_until(lambda: running.said("up") and ("RUNAWAY" not in script or running.said("runaway")))
    assert running.family()
    running.process.kill()
    wait_until(lambda: running.family() == [])


def test_children_go_too_when_supervisor_and_guard_are_killed_at_once(run):
    running = run("[python('web', SLEEPER)]")
    wait_until(lambda: running.said("up"))
    children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    (guard,) = {int(pid) for pid in children} - {running.pid("web")}
    os.kill(guard, signal.SIGKILL)
    running.process.kill()
    wait_until(lambda: running.family() == [])


def test_a_step_that_fails_stops_the_start(run):
    running = run(
        "[python('migrate', 'print(\"no such table\"); raise SystemExit(1)', once=True), python('web', SLEEPER)]"
    )
    assert running.process.wait(10) == 1
    assert running.said("migrate | no such table")
    assert running.said("migrate ended with status 1: see its lines above. Sickbay did not start.")
    assert not running.said("up")


def test_a_program_that_cannot_be_started_does_not_stop_the_others(run):
    running = run("[Program('beat', ('/no/such/program',)), python('web', SLEEPER)]")
    wait_until(lambda: running.said("up") and running.said("beat cannot be started"))
    assert running.process.poll() is None


def test_lines_are_kept_in_a_file_per_child_but_secrets_are_not(run):
    running = run("[python('setup', 'print(\"link\")', once=True, private=True), python('web', SLEEPER)]")
    wait_until(lambda: running.said("web     | up"))
    assert running.said("setup   | link")
    logs = {path.name: path.read_text() for path in (running.data / "log").iterdir()}
    assert set(logs) == {"web.log"}
    assert "up" in logs["web.log"]


def test_a_console_that_nobody_reads_does_not_stop_the_service(run):
    reading, writing = os.pipe()
    try:
        running = run("[python('web', 'while True: print(\"x\" * 200, flush=True)')]", stdout=writing)
        log = running.data / "log" / "web.log"
        wait_until(lambda: log.exists() and log.stat().st_size > 500_000)
        running.process.terminate()
        assert running.process.wait(10) == 0
    finally:
        os.close(reading)
        os.close(writing)


def test_a_log_does_not_grow_for_ever(run):
    chatter = "while True: print('x' * 200, flush=True)"
    running = run(
        f"(setattr(supervisor, 'LOG_BYTES', 100_000), [python('web', {chatter!r})])[1]", stdout=subprocess.DEVNULL
    )
    wait_until((running.data / "log" / "web.log.3").exists)
    kept = sum(path.stat().st_size for path in (running.data / "log").iterdir())
    assert kept < 500_000
    assert not (running.data / "log" / "web.log.4").exists()


def settings(data: Path, **values: str) -> environment.Environment:
    return environment.Environment({"SICKBAY_DATA_DIR": str(data), **values})


def test_a_second_supervisor_says_where_the_first_one_is(tmp_path):
    startup.make_ours(tmp_path / "data")
    startup.claim(tmp_path / "data", "http://localhost:8000/")
    with pytest.raises(startup.CannotStart, match=rf"process {os.getpid()}, http://localhost:8000/"):
        startup.claim(tmp_path / "data", "http://localhost:8001/")


def test_a_new_start_waits_until_the_guard_of_a_killed_run_has_tidied_up(tmp_path):
    startup.make_ours(tmp_path / "data")
    claimed = subprocess.Popen(["true"])
    claimed.wait()
    lock = startup.claim(tmp_path / "data", "http://localhost:8000/")
    os.pwrite(lock, f"{claimed.pid} ".encode(), 0)  # who held it is gone, the guard holds it still
    threading.Timer(0.5, os.close, [lock]).start()
    began = time.monotonic()
    os.close(startup.claim(tmp_path / "data", "http://localhost:8000/"))
    assert time.monotonic() - began > 0.4


def test_the_data_folder_is_for_its_owner_only(tmp_path):
    startup.make_ours(tmp_path / "new" / "data")
    assert (tmp_path / "new" / "data").stat().st_mode & 0o777 == 0o700
    (tmp_path / "new" / "data").chmod(0o755)
    startup.make_ours(tmp_path / "new" / "data")
    assert (tmp_path / "new" / "data").stat().st_mode & 0o777 == 0o700


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    (home / "letter.txt").touch()
    with pytest.raises(startup.CannotStart, match="Set SICKBAY_DATA_DIR to a folder of its own"):
        startup.make_ours(home)
    assert home.stat().st_mode & 0o777 == 0o755


@pytest.mark.enable_socket
def test_a_used_port_is_told_with_the_remedy(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(startup.CannotStart, match=f"Port {port} on 127.0.0.1 is in use.*PORT={port + 1} make run"):
            startup.check_free(settings(tmp_path, PORT=str(port)))
    startup.check_free(settings(tmp_path, PORT=str(port)))


@pytest.mark.enable_socket
def test_a_host_that_is_not_ours_is_told(tmp_path):
    with pytest.raises(startup.CannotStart, match="Set HOST"):
        startup.check_free(settings(tmp_path, HOST="192.0.2.1"))


@pytest.mark.enable_socket
@pytest.mark.parametrize("folder", ["data", "a data folder \\ 'of' \"quotes\"", "a-very-long-name-" * 6])
def test_the_embedded_valkey_answers_on_its_private_address_and_comes_back_without_its_data(tmp_path, folder):
    data = tmp_path / folder
    startup.make_ours(data)
    broker = environment.embedded_broker(data, port=free_port())
    for _start in ("first", "after its data was deleted"):
        configuration = valkey.write_configuration(data, broker)
        server = subprocess.Popen([valkey.server_binary(), configuration], stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: valkey.answers(broker))
            assert (data / "valkey" / "appendonlydir").is_dir()
            client = redis.Redis.from_url(broker.redis_url)
            assert client.set("kept", "1")
            assert client.config_get("appendonly") == {"appendonly": "yes"}
            client.close()
        finally:
            server.kill()
            server.wait()
        shutil.rmtree(data / "valkey")
    assert not valkey.answers(broker)
    if broker.socket:
        assert broker.socket.stat().st_mode & 0o077 == 0


@pytest.mark.enable_socket
def test_a_valkey_on_a_port_wants_the_password(tmp_path):
    data = tmp_path / ("a-very-long-name-" * 6)
    startup.make_ours(data)
    broker = environment.embedded_broker(data, port=free_port())
    assert broker.socket is None
    configuration = valkey.write_configuration(data, broker)
    assert configuration.stat().st_mode & 0o077 == 0
    server = subprocess.Popen([valkey.server_binary(), configuration], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: valkey.answers(broker))
        with redis.Redis(port=broker.port) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.get("kept")
    finally:
        server.kill()
        server.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
