"""A login ends by the browser's redirect or by a pasted address, whichever comes first."""

import datetime
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
import treq
from twisted.internet import reactor
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.web.client import Agent

from reviewsctl.sources.budget import RequestBudget
from reviewsctl.sources.dialing import DialingRules
from reviewsctl.sources.logging_in import log_in
from reviewsctl.sources.oauth import SCOPE, Client, GoogleTokens
from reviewsctl.sources.tokens import TokenFile
from reviewsctl.sources.wire import Wire
from tests.support.source_stub import Stub, response

CLIENT = Client("id.apps.example", "cl1ent-s3cret")
GRANT = {"access_token": "a", "expires_in": 3599, "refresh_token": "r", "scope": SCOPE}


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Terminal:
    """A login that runs, and the terminal that it talks to."""

    def __init__(self, state: Path, stub: Stub) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.stdin, self.keyboard = os.pipe()
        self.shown: list[str] = []
        stub.answer = lambda _: response(json.dumps(GRANT))
        rules = DialingRules(reactor, allow_private=True)
        budget = RequestBudget(limit=100, used_before=0)
        wire = Wire(reactor, Agent.usingEndpointFactory(reactor, rules), budget, lambda: 0.5, now)
        self.file = TokenFile(state, "google")
        self.tokens = GoogleTokens(wire, CLIENT, self.file, "google", now, stub.url)

    def start(self) -> Deferred[None]:
        return ensureDeferred(
            log_in(reactor, self.tokens, CLIENT, self.shown.append, self.port, self.stdin)
        )

    @property
    def redirect(self) -> str:
        query = parse_qs(urlsplit(self.shown[1].strip()).query)
        return f"{query['redirect_uri'][0]}?state={query['state'][0]}&code=c0de"


@pytest.fixture
def terminal(tmp_path: Path, stub: Stub) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, stub)
    yield terminal
    os.close(terminal.keyboard)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator]
async def test_browser_ends_the_login(terminal: Terminal, stub: Stub) -> None:
    running = terminal.start()
    other = await treq.get(f"http://127.0.0.1:{terminal.port}/?code=x&state=y", persistent=False)
    answer = await treq.get(terminal.redirect, persistent=False)
    await running
    assert (400, 200) == (other.code, answer.code)
    assert "close this page" in await answer.text()
    assert "r" == terminal.file.load().refresh_token
    assert "c0de" == stub.asked[0].form["code"]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator]
async def test_pasted_address_ends_the_login(terminal: Terminal) -> None:
    with socket.create_server(("127.0.0.1", terminal.port)):
        running = terminal.start()
        os.write(terminal.keyboard, f"nonsense\n{terminal.redirect}\n".encode())
        await running
    assert f"(port {terminal.port} is in use: paste the address)" in terminal.shown
    assert "that address belongs to another login" in terminal.shown
    assert "r" == terminal.file.load().refresh_token
