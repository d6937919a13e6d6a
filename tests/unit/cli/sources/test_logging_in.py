"""A login ends by the browser's redirect or by a pasted address, whichever comes first."""

import datetime
import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from reviewsctl.sources.logging_in import log_in
from reviewsctl.sources.oauth import SCOPE, Client, GoogleTokens
from reviewsctl.sources.wire import Wire
from tests.support.source_stub import Stub, response

CLIENT = Client("id.apps.example", "cl1ent-s3cret")
GRANT = {"access_token": "a", "expires_in": 3599, "refresh_token": "r", "scope": SCOPE}


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Terminal:
    """A login that runs in a thread, and the terminal that it talks to."""

    def __init__(self, state: Path, stub: Stub) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.stdin, self.keyboard = os.pipe()
        self.shown: list[str] = []
        self.asking = threading.Event()
        stub.answer = lambda _: response(json.dumps(GRANT))
        wire = Wire(allow_private=True, requests_left=100, now=now)
        self.tokens = GoogleTokens(wire, CLIENT, state, "google", now, stub.url)

    def show(self, line: str) -> None:
        self.shown.append(line)
        if "paste" in line:
            self.asking.set()

    def start(self) -> threading.Thread:
        """Begin a login; it listens when this returns, or soon."""
        arguments = (self.tokens, self.show, self.port, self.stdin)
        thread = threading.Thread(target=log_in, args=arguments)
        thread.start()
        assert self.asking.wait(10)
        return thread

    @property
    def redirect(self) -> str:
        query = parse_qs(urlsplit(self.shown[1].strip()).query)
        return f"{query['redirect_uri'][0]}?state={query['state'][0]}&code=c0de"


@pytest.fixture
def terminal(tmp_path: Path, stub: Stub) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, stub)
    yield terminal
    os.close(terminal.keyboard)
    os.close(terminal.stdin)


def opened(url: str) -> tuple[int, str]:
    """Open an address as a browser does, once something listens there."""
    parts = urlsplit(url)
    while True:
        connection = http.client.HTTPConnection(parts.netloc, timeout=10)
        try:
            connection.request("GET", f"/?{parts.query}")
        except ConnectionRefusedError:
            continue
        answer = connection.getresponse()
        status, text = answer.status, answer.read().decode()
        connection.close()
        return status, text


def test_browser_ends_the_login(terminal: Terminal, stub: Stub) -> None:
    running = terminal.start()
    assert 400 == opened(f"http://127.0.0.1:{terminal.port}/?code=x&state=y")[0]
    status, text = opened(terminal.redirect)
    running.join(10)
    assert 200 == status
    assert "close this page" in text
    assert "r" == terminal.tokens.load().refresh_token
    assert "c0de" == stub.asked[0].form["code"]


def test_pasted_address_ends_the_login(terminal: Terminal) -> None:
    with socket.create_server(("127.0.0.1", terminal.port)):
        running = terminal.start()
        os.write(terminal.keyboard, f"nonsense\n{terminal.redirect}\n".encode())
        running.join(10)
    assert f"(port {terminal.port} is in use: paste the address)" in terminal.shown
    assert "that address belongs to another login" in terminal.shown
    assert "r" == terminal.tokens.load().refresh_token
