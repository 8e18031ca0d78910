"""Longer proofs: `make proof`."""

import contextlib
import threading
import time

import pytest

from tests.journeys.running import alert, post, wait_until

pytestmark = [pytest.mark.journey, pytest.mark.proof]
ALERTS = 300


def test_no_alert_is_lost_or_doubled_while_the_pager_is_killed_again_and_again(own_sickbay):
    url, done = own_sickbay.source(), threading.Event()
    kills = 0

    def kill_the_pager():
        """Each one lives for some seconds: long enough to have begun, too short to have done it all."""
        nonlocal kills
        while not done.wait(3):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError, ValueError):
                killed = own_sickbay.kill("pager")
                kills += 1
                wait_until(
                    lambda old=killed: done.is_set() or own_sickbay.pid("pager") != old,
                    within=30,
                    what="the next pager",
                )

    killer = threading.Thread(target=kill_the_pager)
    killer.start()
    for number in range(ALERTS):
        assert post(url, alert(f"node-{number:03}")).status_code == 202

    def all_incidents():
        found, cursor = [], "incidents?page_size=200"
        while cursor:
            page = own_sickbay.api("GET", cursor)
            found += page["results"]
            cursor = page["next"].partition("/api/v1/")[2] if page["next"] else ""
        return found

    try:
        wait_until(lambda: len(all_incidents()) >= ALERTS, within=240, what="an incident per alert")
    finally:
        done.set()
        killer.join()
    assert kills >= 3  # the supervisor waits ever longer before it starts what keeps dying
    hosts = [incident["node"] for incident in all_incidents()]
    assert len(hosts) == len(set(hosts)) == ALERTS


def test_runs_end_while_the_worker_is_killed_again_and_again(own_sickbay):
    url = own_sickbay.source()
    post(url, alert("localhost"))
    for _round in range(6):
        node = own_sickbay.api("GET", "nodes", params={"is_discovered": "false"})["results"][0]["hostname"]
        run = own_sickbay.api("POST", "runs", json={"node": node, "plan": "triage"})
        time.sleep(0.3)  # into the middle of it
        own_sickbay.kill("worker")
        wait_until(
            lambda number=run["id"]: own_sickbay.api("GET", f"runs/{number}")["state"] == "finished",
            within=120,
            what="the end of a run whose worker was killed",
        )
