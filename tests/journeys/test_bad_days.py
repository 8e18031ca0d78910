"""Parts of Sickbay are killed, stopped and robbed of their data. Nothing that was accepted is lost."""

import os
import shutil
import signal
import socket
import statistics
import time

import httpx
import pytest

from tests.journeys.running import alert, post, wait_until

pytestmark = pytest.mark.journey
HOST = socket.gethostname().lower()


def runs(sickbay, incident):
    return sickbay.api("GET", "runs", params={"incident": incident["id"]})["results"]


def finished_run(sickbay, incident, *, within=90):
    def look():
        found = runs(sickbay, incident)
        return found[0] if found and found[0]["state"] == "finished" else None

    return wait_until(look, within=within, what="a finished run")


def one_incident(sickbay, host=HOST, *, within=30):
    found = wait_until(lambda: sickbay.incidents(node=host), within=within, what=f"an incident of {host}")
    assert len(found) == 1
    return found[0]


def test_a_worker_killed_in_the_middle_of_a_run_does_not_end_the_run(own_sickbay):
    url = own_sickbay.source()
    os.kill(own_sickbay.pid("worker"), signal.SIGSTOP)  # holds the run in its middle: probes are taken by nobody else
    post(url, alert(HOST))
    incident = one_incident(own_sickbay)
    wait_until(lambda: runs(own_sickbay, incident), within=20, what="a run")
    os.kill(own_sickbay.pid("worker"), signal.SIGCONT)
    wait_until(lambda: runs(own_sickbay, incident)[0]["state"] != "waiting", within=30, what="a run that has begun")
    own_sickbay.kill("worker")
    run = finished_run(own_sickbay, incident)
    assert {probe["outcome"] for probe in run["probes"]} <= {"clean", "findings", "could_not_check", "not_supported"}


def test_an_alert_is_processed_even_if_the_web_is_killed_right_after_its_answer(own_sickbay):
    url = own_sickbay.source()
    own_sickbay.kill("pager", signal.SIGSTOP)  # so that only the row is left to tell of it
    answer = post(url, alert(HOST))
    own_sickbay.kill("web")
    assert answer.status_code == 202
    own_sickbay.kill("pager", signal.SIGCONT)
    wait_until(own_sickbay.answers, within=60, what="the web again")
    assert one_incident(own_sickbay)["fault"] == "gpu.off_bus"


def test_without_the_data_of_the_broker_open_work_is_taken_up_again(own_sickbay):
    url = own_sickbay.source()
    own_sickbay.kill("worker", signal.SIGSTOP)
    post(url, alert(HOST))
    incident = one_incident(own_sickbay)
    wait_until(lambda: runs(own_sickbay, incident), within=20, what="a run")
    before = own_sickbay.kill("valkey")
    shutil.rmtree(own_sickbay.data / "valkey")
    wait_until(lambda: own_sickbay.pid("valkey") != before, within=30, what="the broker again")
    own_sickbay.kill("worker", signal.SIGCONT)
    assert finished_run(own_sickbay, incident)["state"] == "finished"


def test_with_the_broker_stopped_alerts_become_incidents_and_the_web_is_as_fast_and_says_what_waits(own_sickbay):
    url = own_sickbay.source()

    def seconds_of_a_page():
        began = time.monotonic()
        assert httpx.get(
            f"{own_sickbay.url}/api/v1/incidents", headers={"Authorization": f"Bearer {own_sickbay.token}"}
        ).is_success
        return time.monotonic() - began

    own_sickbay.incidents()
    usual = statistics.median(seconds_of_a_page() for _ in range(20))
    stopped = own_sickbay.kill("valkey", signal.SIGSTOP)
    began = time.monotonic()
    try:
        for number in range(12):
            sent = time.monotonic()
            assert post(url, alert(f"node-{number}")).status_code == 202
            assert time.monotonic() - sent < 2
            wait_until(
                lambda host=f"node-{number}": own_sickbay.incidents(node=host), within=10, what="an incident meanwhile"
            )
            wait_until(lambda at=number: time.monotonic() - began > at * 5, within=10, what="the next alert's turn")
        wait_until(lambda: not own_sickbay.ready()["broker"], within=10, what="readyz naming the broker")
        wait_until(lambda: not own_sickbay.ready()["beat"], within=60, what="readyz naming the silent queue")
        assert httpx.get(f"{own_sickbay.url}/readyz").status_code == 200
        # The limit: no page may wait for the broker, whose time-outs start at half a second.
        assert statistics.median(seconds_of_a_page() for _ in range(20)) < max(4 * usual, 0.3)
        assert time.monotonic() - began > 55
    finally:
        os.kill(stopped, signal.SIGCONT)
    post(url, alert(HOST))
    finished_run(own_sickbay, one_incident(own_sickbay))


def test_ctrl_c_ends_everything_and_the_next_start_goes_on(own_sickbay):
    url = own_sickbay.source()
    post(url, alert(HOST))
    one_incident(own_sickbay)
    pids = [own_sickbay.pid(name) for name in ("web", "pager", "worker", "beat", "valkey")]
    own_sickbay.stop()
    assert [pid for pid in pids if os.path.exists(f"/proc/{pid}")] == []
    own_sickbay.start()
    assert own_sickbay.incidents(node=HOST)
