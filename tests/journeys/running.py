"""The real program, started as a newcomer starts it, and what a test asks of it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
OF_THE_TEST_RUN = {"REDIS_URL", "DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE", "MAKELEVEL", "MAKEFLAGS"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_until(condition: Callable[[], Any], *, within: float, what: str) -> Any:
    """The first true answer of the condition; the test fails with `what` if there is none in time (seconds).

    A door that is not there at the moment is no answer yet: the web worker that outlives its killed parent by a
    second may answer once more before the next one opens the port.
    """
    until, refused = time.monotonic() + within, ""
    while True:
        try:
            answer = condition()
        except httpx.TransportError as error:
            answer, refused = None, f" (last: {error})"
        if answer:
            return answer
        if time.monotonic() > until:
            raise AssertionError(f"waited {within:g} s for: {what}{refused}")
        time.sleep(0.1)


class Sickbay:
    """`make run` with a data folder and a port of its own."""

    def __init__(self, data: Path, **environ: str) -> None:
        self.data, self.port = data, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        inherited = {name: value for name, value in os.environ.items() if name not in OF_THE_TEST_RUN}
        self.environ = {**inherited, "SICKBAY_DATA_DIR": str(data), "PORT": str(self.port), **environ}
        self.output = data.parent / f"{data.name}.out"
        self.process: subprocess.Popen[bytes] | None = None
        self.token = ""

    def start(self, *, within: float = 90) -> "Sickbay":
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                ["make", "run"], cwd=ROOT, env=self.environ, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        wait_until(self.answers, within=within, what=f"GET /healthz; it printed:\n{self.output.read_text()[-3000:]}")
        return self

    def stop(self) -> int:
        """Ctrl-C, and the exit status."""
        assert self.process
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(timeout=40)

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            self.stop()

    def answers(self) -> bool:
        assert self.process
        assert self.process.poll() is None, self.output.read_text()[-3000:]
        try:
            return httpx.get(f"{self.url}/healthz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    def ready(self) -> dict[str, bool]:
        """Which parts are up."""
        return {part["name"]: part["up"] for part in httpx.get(f"{self.url}/readyz", timeout=10).json()["parts"]}

    def wait_for_all_parts(self) -> None:
        wait_until(lambda: all(self.ready().values()), within=60, what="every part up")

    def pid(self, name: str) -> int:
        return int((self.data / "run" / f"{name}.pid").read_text())

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        pid = self.pid(name)
        os.kill(pid, number)
        return pid

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def sign_in_link(self) -> str:
        found = re.search(r"https?://\S+sbl_\S+", self.output.read_text())
        assert found, self.output.read_text()[-2000:]
        return self.url + re.sub(r"^https?://[^/]+", "", found[0])

    def source(self, name: str = "prometheus") -> str:
        """A new source; its ingest URL."""
        printed = self.manage("sources", "add", name, "--kind", "alertmanager").strip()
        return self.url + re.sub(r"^https?://[^/]+", "", printed)

    def api(self, method: str, path: str, *, status: int | None = None, **options: Any) -> Any:
        """The JSON that the API answers, as the first administrator."""
        if not self.token:
            self.token = self.manage("tokens", "add", "admin").strip()
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = httpx.request(method, f"{self.url}/api/v1/{path}", headers=headers, timeout=30, **options)
        assert answer.status_code == status if status else answer.is_success, (
            f"{answer.status_code}: {answer.text[:1000]}"
        )
        return answer.json()

    def incidents(self, **filters: str) -> list[dict[str, Any]]:
        return self.api("GET", "incidents", params=filters)["results"]


def alert(
    host: str, *, gpu: int = 0, status: str = "firing", starts_at: str = "2026-11-30T02:00:00Z", name: str = "GpuXid"
) -> bytes:
    """A body as Alertmanager posts it, about a GPU of the host that fell off the bus."""
    labels = {"alertname": name, "Hostname": host, "gpu": str(gpu), "err_code": "79", "severity": "critical"}
    member = {
        "status": status,
        "labels": labels,
        "annotations": {"summary": f"Xid 79 on GPU {gpu}"},
        "startsAt": starts_at,
        "endsAt": "0001-01-01T00:00:00Z" if status == "firing" else "2026-11-30T02:30:00Z",
        "generatorURL": "http://prometheus.example/graph",
    }
    return json.dumps(
        {"version": "4", "status": status, "receiver": "sickbay", "alerts": [member], "truncatedAlerts": 0}
    ).encode()


def post(url: str, body: bytes) -> httpx.Response:
    return httpx.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=10)
