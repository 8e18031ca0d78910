"""The same code on PostgreSQL and Redis: set `DATABASE_URL` and `REDIS_URL`, nothing else."""

import os
import secrets
import socket
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import redis

from tests.journeys.running import Sickbay, alert, post, wait_until

pytestmark = pytest.mark.services
HOST = socket.gethostname().lower()


@pytest.fixture
def database():
    """A database of its own on the server that DATABASE_URL names."""
    server = urlsplit(os.environ["DATABASE_URL"])
    name = f"sickbay_{secrets.token_hex(4)}"
    admin = urlunsplit((*server[:2], "/postgres", "", ""))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield urlunsplit((*server[:2], f"/{name}", "", ""))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def queue():
    """An empty database of the Redis server that REDIS_URL names."""
    url = os.environ["REDIS_URL"]
    client = redis.Redis.from_url(url)
    client.flushdb()
    yield url
    client.flushdb()
    client.close()


@pytest.fixture
def sickbay(tmp_path, database, queue):
    program = Sickbay(tmp_path / "data", DATABASE_URL=database, REDIS_URL=queue)
    program.start()
    program.wait_for_all_parts()
    yield program
    program.end()


def test_an_alert_is_diagnosed_on_postgresql_and_redis_and_nothing_embedded_runs(sickbay, database):
    post(sickbay.source(), alert(HOST))
    incident = wait_until(lambda: sickbay.incidents(node=HOST), within=30, what="an incident")[0]

    def finished():
        runs = sickbay.api("GET", "runs", params={"incident": incident["id"]})["results"]
        return runs and runs[0]["state"] == "finished"

    wait_until(finished, within=60, what="its run")
    assert not (sickbay.data / "run" / "valkey.pid").exists()
    assert not (sickbay.data / "sickbay.sqlite3").exists()
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM incidents_delivery").fetchone() == (1,)


def test_work_that_the_queue_forgot_is_rung_for_again(sickbay, queue):
    sickbay.kill("worker", 19)  # SIGSTOP: nobody takes what waits in the queue
    post(sickbay.source(), alert(HOST))
    incident = wait_until(lambda: sickbay.incidents(node=HOST), within=30, what="an incident")[0]
    client = redis.Redis.from_url(queue)
    wait_until(lambda: client.llen("celery"), within=30, what="messages in the queue")
    client.flushdb()
    sickbay.kill("worker", 18)  # SIGCONT

    def finished():
        runs = sickbay.api("GET", "runs", params={"incident": incident["id"]})["results"]
        return runs and runs[0]["state"] == "finished"

    wait_until(finished, within=60, what="its run")
