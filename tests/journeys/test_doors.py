"""What only the real web server can tell: bodies in pieces, senders that fall silent, what is written to the log."""

import contextlib
import json
import re
import socket

import httpx
import pytest

from config.web import SILENCE_SECONDS
from tests.journeys.running import alert, wait_until

pytestmark = pytest.mark.journey


def raw(sickbay, *pieces, wait=10.0):
    """What the server answers to the bytes."""
    with socket.create_connection(("127.0.0.1", sickbay.port), timeout=wait) as line:
        for piece in pieces:
            line.sendall(piece)
        line.shutdown(socket.SHUT_WR)
        return line.makefile("rb").read().decode(errors="replace")


@pytest.fixture(scope="module")
def path(sickbay):
    return sickbay.source("pieces").removeprefix(sickbay.url)


def head(path, *lines):
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", "Connection: close", *lines, "", ""]).encode()


def test_a_body_in_chunks_is_kept_whole(sickbay, path):
    body = alert("chunked-node")
    pieces = [f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in (body[:100], body[100:])]
    answer = raw(sickbay, head(path, "Transfer-Encoding: chunked"), *pieces, b"0\r\n\r\n")
    assert answer.startswith("HTTP/1.1 202")
    wait_until(lambda: sickbay.incidents(node="chunked-node"), within=20, what="its incident")


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        (("Content-Length: 100",), b"abc"),
        (("Transfer-Encoding: chunked",), b"ZZ\r\nabc\r\n0\r\n\r\n"),
        (("Transfer-Encoding: chunked",), b"64\r\nabc"),
    ],
)
def test_a_body_that_does_not_come_whole_is_never_answered_as_taken(sickbay, path, lines, body):
    answer = raw(sickbay, head(path, *lines), body)
    assert not answer.startswith("HTTP/1.1 2")


def test_a_body_beyond_the_limit_in_chunks_is_cut_and_answered(sickbay, path):
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    answer = raw(sickbay, head(path, "Transfer-Encoding: chunked"), *[piece] * 6, b"0\r\n\r\n")
    assert answer.startswith("HTTP/1.1 202")


def test_silent_senders_do_not_hold_the_web_for_long(sickbay, path):
    begun = [b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ", head(path, "Content-Length: 50") + b"{"]
    with contextlib.ExitStack() as lines:
        for number in range(24):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", sickbay.port)))
            line.sendall(begun[number % 2])
        wait_until(sickbay.answers, within=2 * SILENCE_SECONDS + 20, what="an answer while others are silent")


def test_no_secret_of_an_address_is_written_to_the_log(sickbay, path):
    secret = re.search(r"sbs_[\w-]+", path)[0]
    httpx.get(sickbay.url + path)
    httpx.post(sickbay.url + path.replace("alertmanager", "grafana"), content=json.dumps({}))
    link = sickbay.sign_in_link()
    httpx.post(link)
    log = (sickbay.data / "log" / "web.log").read_text()
    assert "sbs_…" in log
    assert secret not in log
    assert link.rpartition("/")[2] not in log
