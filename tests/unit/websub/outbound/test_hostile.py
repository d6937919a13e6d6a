"""Attacks of subscribers: each costs little memory and time, and leaves nothing behind (E12, F1)."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater

from tests.support.authority import authority
from tests.support.callback_process import sink
from tests.support.callbacks import HOST, serving
from tests.support.hostile import Attempt, cost, delivering, leftovers, verifying
from tests.support.outbound import Missing, Outcome, Received, reactor, sending
from tests.support.subscriber import Subscriber

SECONDS = 0.4  # instead of 15 and 30, for attackers that never respond
PLENTY = 60.0  # for attackers that do, also on a busy machine
MEGABYTES = 20.0  # E12

BROKEN = "broken HTTP: "
TOO_MUCH = "sent more than 131072 bytes"
TOO_LONG = BROKEN + "the head is too long"
NOTHING = "no answer within 0.4 s"
USELESS = "TLS: sent more than 20480 bytes that brought no data"
ANSWERS = {
    "/headers": TOO_LONG,
    "/long-header": TOO_LONG,
    "/fold": TOO_LONG,
    "/interims": TOO_MUCH,
    "/body": "200, 1025 bytes",
    "/chunks": "200, 1025 bytes",
    "/trailers": BROKEN + "the chunks of its body are malformed",
    "/gzip-bomb": "200, 0 bytes",
    "/gzip-silence": NOTHING,
    "/silence": NOTHING,
    "/drip": NOTHING,
    "/reset": "the connection was lost before it answered",
    "/broken": BROKEN + "the status line is not that of HTTP/1.1 or 1.0",
    "/deaf": "200, 1 bytes",
    "/long/2000": "200, 1025 bytes",
    "/status/302": "302, 1 bytes",
}
"""Attacks of a subscriber with valid TLS, and outcomes of verifications; a delivery reads the head only."""


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        authority().identity.write(Path(name) / "ca.pem")
        yield Path(name)


@pytest.fixture(scope="module")
def attacker(directory: Path) -> Iterator[str]:
    """Return the beginning of its URLs."""
    with sink(directory) as port:
        yield f"https://{HOST}:{port}"


def seconds_for(path: str) -> float:
    return SECONDS if ANSWERS[path] == NOTHING else PLENTY


def describe(outcome: Outcome) -> str:
    """Return an outcome in a few words."""
    if isinstance(outcome, Received):
        return f"{outcome.status}, {len(outcome.body)} bytes"
    return outcome.reason if isinstance(outcome, Missing) else outcome


ENDLESS = ("/body", "/chunks")


def expected(path: str) -> set[str]:
    """Return the outcomes of an attack; without an end, either limit may be reached first."""
    endless = path in ENDLESS or ANSWERS[path] == TOO_LONG
    return {ANSWERS[path], TOO_MUCH} if endless else {ANSWERS[path]}


async def assert_cheap(ca_file: Path, attempt: Attempt) -> Outcome:
    result = await cost(ca_file, attempt)
    assert result.megabytes < MEGABYTES
    assert result.leftovers <= 0  # fewer, if those of an earlier test are closed meanwhile
    return result.outcome


@pytest.mark.parametrize("path", ANSWERS)
async def test_attack_on_verification_is_cheap(directory: Path, attacker: str, path: str) -> None:
    attempt = verifying(attacker + path, seconds_for(path))
    assert describe(await assert_cheap(directory / "ca.pem", attempt)) in expected(path)


@pytest.mark.parametrize("path", ANSWERS)
async def test_attack_on_delivery_is_cheap(directory: Path, attacker: str, path: str) -> None:
    """The head decides: what follows it is not waited for."""
    seconds = PLENTY if path == "/gzip-silence" else seconds_for(path)  # its head is sent
    attempt = delivering(attacker + path, seconds)
    outcome = describe(await assert_cheap(directory / "ca.pem", attempt))
    headless = ("/silence", "/drip", "/headers", "/long-header", "/fold", "/interims", "/reset")
    if path in headless or path == "/broken":
        assert outcome in expected(path)
    else:
        assert re.fullmatch("(200|302), 0 bytes", outcome)


async def test_silence_during_handshake_is_cheap(directory: Path) -> None:
    async with serving(mute=True) as server:
        for attempt in (verifying(server.url(), SECONDS), delivering(server.url(), SECONDS)):
            assert NOTHING == describe(await assert_cheap(directory / "ca.pem", attempt))


@pytest.mark.parametrize(("tickets", "expected_outcome"), [(20, "200, 0 bytes"), (200, USELESS)])
async def test_tls_messages_without_data_are_limited(
    tmp_path: Path, tickets: int, expected_outcome: str
) -> None:
    """A session ticket, or a key update, costs as much as a kilobyte of data."""
    with Subscriber(tmp_path) as subscriber:
        subscriber.context.num_tickets = tickets
        async with sending(subscriber.ca_file) as sender:
            assert expected_outcome == describe(await delivering(subscriber.url())(sender))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_not_followed(directory: Path, status: int) -> None:
    """It is a response, and no success (E11)."""
    async with serving() as server, sending(directory / "ca.pem") as sender:
        url = server.url(f"/status/{status}")
        for outcome in (await sender.verify(url), await sender.deliver(url)):
            assert isinstance(outcome, Received)
            assert status == outcome.status
        assert [f"/status/{status}"] * 2 == [request.target for request in server.received]


async def test_cookie_is_not_sent_back(directory: Path) -> None:
    """Neither to another callback nor to the one that set it (E13)."""
    async with serving() as server, sending(directory / "ca.pem") as sender:
        for path in ("/cookie", "/other", "/cookie"):
            await verifying(server.url(path, "localhost"))(sender)
            await delivering(server.url(path, "localhost"))(sender)
        assert [None] * 6 == [request.field("Cookie") for request in server.received]


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
async def test_cancelled_attempts_leave_nothing_behind(
    directory: Path, attacker: str, seconds: float
) -> None:
    """The daemon may stop during a connect, a handshake, or a response."""
    before = leftovers()
    async with sending(directory / "ca.pem") as sender:
        running = [
            Deferred.fromCoroutine(attempt(sender))
            for path in ANSWERS
            for attempt in (verifying(attacker + path), delivering(attacker + path))
        ]
        await deferLater(reactor, seconds)
        for request in running:
            request.addErrback(lambda failure: failure.trap(CancelledError))
            request.cancel()
    assert leftovers() <= before  # fewer, if those of an earlier test are closed meanwhile
