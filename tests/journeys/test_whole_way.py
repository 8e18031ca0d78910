"""One alert of a real Alertmanager becomes a diagnosed, treated, verified, closed and counted incident; docs/quickstart.md is this way."""

import hashlib
import json
import shutil
import socket
import subprocess
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.journeys.running import alert, free_port, post, wait_until

pytestmark = pytest.mark.journey
HOST = socket.gethostname().lower()
KERNEL_LOG = """\
[    0.000000] Linux version 6.8.0-45-generic (build@host) (gcc 13.2.0) #45-Ubuntu SMP
[ 8211.102938] NVRM: GPU at PCI:0000:3b:00: GPU-5f1c7d42-9a0e-4f7b-8c55-1d2e3f4a5b6c
[ 8211.102944] NVRM: GPU Board Serial Number: 1563221009917
[ 8211.102947] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[ 8211.102951] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.
"""
LINE = "[ 8211.102947] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
CONFIG = """\
route: {{receiver: sickbay, group_by: [alertname], group_wait: 1s, group_interval: 2s, repeat_interval: 1h}}
receivers:
- name: sickbay
  webhook_configs: [{{url: "{url}", send_resolved: true}}]
"""


class Alertmanager:
    """A real one, where Debian's package is installed."""

    def __init__(self, program, folder, url):
        (folder / "config.yml").write_text(CONFIG.format(url=url))
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [
                program,
                f"--config.file={folder / 'config.yml'}",
                f"--storage.path={folder / 'data'}",
                f"--web.listen-address={self.url.removeprefix('http://')}",
                "--cluster.listen-address=",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self.answers, within=20, what="Alertmanager")

    def answers(self):
        try:
            return httpx.get(f"{self.url}/-/ready").is_success
        except httpx.HTTPError:
            return False

    def fire(self):
        labels = {"alertname": "GpuXid", "Hostname": HOST, "gpu": "0", "err_code": "79", "severity": "critical"}
        started = (datetime.now(UTC) - timedelta(seconds=30)).isoformat()
        alerts = [{"labels": labels, "annotations": {"summary": "Xid 79 on GPU 0"}, "startsAt": started}]
        httpx.post(f"{self.url}/api/v2/alerts", json=alerts).raise_for_status()

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=10)


@pytest.fixture
def fire(tmp_path):
    """Fires for this machine, through a real Alertmanager or, without one, with a body as it sends it."""
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    running = []

    def go(url):
        if program:
            running.append(Alertmanager(program, tmp_path, url))
            running[0].fire()
        else:
            assert post(url, alert(HOST, starts_at=datetime.now(UTC).isoformat())).status_code == 202

    yield go
    for one in running:
        one.end()


def test_an_alert_goes_the_whole_way_to_a_counted_closed_incident(sickbay, fire):
    fire(sickbay.source())

    # 1 to 3: the alert is an incident of this machine
    incident = wait_until(lambda: sickbay.incidents(node=HOST), within=30, what="the incident")[0]
    number, move = incident["id"], f"incidents/{incident['id']}/move"
    assert (incident["fault"], incident["severity"], incident["state"]) == ("gpu.off_bus", "SEV2", "open")

    # 4: a run on this machine, by itself
    def run_for(purpose):
        found = sickbay.api("GET", "runs", params={"incident": number, "purpose": purpose})["results"]
        return next((run for run in found if run["state"] == "finished"), None)

    triage = wait_until(lambda: run_for("triage"), within=90, what="the triage run")
    outcomes = {probe["probe"]: (probe["outcome"], probe["reason"]) for probe in triage["probes"]}
    assert outcomes["memory"][0] in {"clean", "findings"}
    assert outcomes["nvml"][0] != "could_not_check"  # without a driver it is not supported, which is not a failure
    assert all(reason for outcome, reason in outcomes.values() if outcome in {"could_not_check", "not_supported"})

    sickbay.api("POST", move, json={"move": "acknowledge"})
    sickbay.api("POST", move, json={"move": "mitigate", "text": "drained"})

    # a kernel log as evidence, and the finding with the very line
    sickbay.api("POST", f"incidents/{number}/evidence", files={"file": ("dmesg.txt", KERNEL_LOG.encode())})
    root = wait_until(
        lambda: sickbay.api("GET", "findings", params={"incident": number, "root": "true", "fault": "gpu.off_bus"})[
            "results"
        ],
        within=60,
        what="the finding",
    )[0]
    assert (root["line"], root["line_number"], root["component"]) == (LINE, 4, "0000:3b:00.0")
    sickbay.api("POST", f"findings/{root['id']}/verdict", json={"confirmed": True, "note": "the line says so"})

    # 5: the SOP, pinned by its hash; its steps ticked, each with who and when
    checklist = sickbay.api("POST", f"incidents/{number}/checklists", json={"language": "en"})
    revision = checklist["revision"]
    detail = sickbay.api("GET", f"articles/{revision['slug']}/revisions/en/{revision['number']}")
    assert checklist["content_sha256"] == hashlib.sha256(detail["body"].encode()).hexdigest()
    sickbay.api("POST", move, json={"move": "start_repair", "text": "cold reboot"})
    work_through(sickbay, checklist)

    # 6: not before a fresh and clean run
    refused = sickbay.api("POST", move, status=409, json={"move": "restore"})
    assert refused["missing"]
    sickbay.api("POST", move, json={"move": "start_verifying"})
    wait_until(lambda: run_for("verify"), within=90, what="the verification run")
    wait_until(lambda: kinds(sickbay, number) & {"verified", "fail_verification"}, within=30, what="its answer")
    assert "verified" in kinds(sickbay, number), sickbay.api("GET", f"incidents/{number}")["timeline"][-3:]
    sickbay.api("POST", move, json={"move": "restore"})

    # closing names what is missing until it is there
    refused = sickbay.api("POST", move, status=409, json={"move": "close"})
    assert any("post-mortem" in sentence for sentence in refused["missing"])
    write_postmortem(sickbay, number)
    closed = sickbay.api("POST", move, json={"move": "close"})
    assert (closed["state"], closed["cause"]) == ("closed", "gpu.off_bus")

    # 7: counted, in the API and on the page
    declared = closed["declared_at"][:7]
    month = sickbay.api("GET", f"months/{declared}")
    assert number in month["failures"]["ids"]
    assert number in month["restore"]["ids"]
    page = signed_in(sickbay).get(f"/reports/{declared}/")
    assert page.status_code == 200
    assert "GPU fallen off the bus" in page.text

    # 10: the same from the command line
    document = json.loads(sickbay.manage("diagnose", "localhost", "--plan", "triage", "--json"))
    assert document["schema"] == "sickbay.findings/1"


def kinds(sickbay, number):
    return {entry["kind"] for entry in sickbay.api("GET", f"incidents/{number}")["timeline"]}


def work_through(sickbay, checklist):
    """Do each step that is open, until none is."""
    for _step in range(40):
        now = sickbay.api("GET", f"checklists/{checklist['id']}")
        if now["state"] != "open":
            break
        step = now["next_step"]
        answer = step["answers"][0] if step["answers"] else ""
        body = {"step": step["key"], "state": "done", "note": "done as written", "answer": answer}
        sickbay.api("POST", f"checklists/{checklist['id']}/tick", json=body)
    ended = sickbay.api("GET", f"checklists/{checklist['id']}")
    assert ended["state"] == "finished"
    assert all(tick["by_name"] and tick["at"] for tick in ended["results"])


_browsers: dict[str, httpx.Client] = {}


def signed_in(sickbay) -> httpx.Client:
    """A browser without scripts that came in by the one-time link."""
    if sickbay.url not in _browsers:
        browser = httpx.Client(base_url=sickbay.url, follow_redirects=True, timeout=20)
        link = sickbay.sign_in_link()
        assert "csrfmiddlewaretoken" in browser.get(link).text
        send(browser, link)
        _browsers[sickbay.url] = browser
    return _browsers[sickbay.url]


def send(browser, path, **fields):
    token = browser.cookies.get("csrftoken", "")
    answer = browser.post(
        path, data={"csrfmiddlewaretoken": token, **fields}, headers={"Referer": str(browser.base_url)}
    )
    assert answer.status_code == 200, answer.text[:2000]
    return answer


def write_postmortem(sickbay, number):
    texts = dict.fromkeys(
        ("summary", "impact", "root_cause", "prevention"), "The GPU lost its link; the riser was replaced."
    )
    browser = signed_in(sickbay)
    browser.get(f"/incidents/{number}/postmortem")
    send(browser, f"/incidents/{number}/postmortem", **texts)
    send(browser, f"/incidents/{number}/postmortem/publish")


def test_the_sign_in_link_works_once(sickbay):
    link = sickbay.sign_in_link()
    signed_in(sickbay)
    assert "used already" in httpx.get(link, follow_redirects=True).text
