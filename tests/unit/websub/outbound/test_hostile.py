"""Hostile subscribers: each costs little memory and time, and leaves nothing behind (E12, F1).

``python -m tests.support.hostile`` prints the same under the real timeouts.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater

from reviewsd.websub.outbound.outcomes import Answered, AttemptOutcome, Unanswered
from tests.support.authority import authority
from tests.support.callback_process import sink
from tests.support.callbacks import HOST, serving
from tests.support.hostile import PATHS, Attempt, cost, delivering, leftovers, verifying
from tests.support.outbound import callback, calling, free_slot, reactor
from tests.support.subscriber import Subscriber

SECONDS = 0.4  # instead of 15 and 30, for those that never answer
PLENTY = 60.0  # for those that do: on a busy machine, too
MEGABYTES = 20.0  # E12

BROKEN = "broken HTTP: "
TOO_MUCH = "sent more than 131072 bytes"
TOO_LONG = BROKEN + "a head or line of it is too long"
NOTHING = "no answer within 0.4 s"
USELESS = "TLS: sent more than 20480 bytes that brought no data"
ANSWERS = {
    "/headers": TOO_LONG,
    "/long-header": TOO_LONG,
    "/fold": TOO_LONG,
    "/interims": TOO_MUCH,
    "/body": "200, 1025 bytes",
    "/chunks": "200, 1025 bytes",
    "/trailers": TOO_MUCH,
    "/gzip-bomb": "200, 0 bytes",
    "/gzip-silence": NOTHING,
    "/silence": NOTHING,
    "/drip": NOTHING,
    "/reset": "the connection was lost before it answered",
    "/broken": BROKEN + "the status line is not HTTP/1.1's",
    "/deaf": "200, 1 bytes",
    "/long/2000": "200, 1025 bytes",
    "/status/302": "302, 1 bytes",
}
"""To verifications; in a delivery the head is the answer."""


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        authority().identity.write(Path(name) / "ca.pem")
        yield Path(name)


@pytest.fixture(scope="module")
def attacker(directory: Path) -> Iterator[str]:
    """The beginning of its addresses."""
    with sink(directory) as port:
        yield f"https://{HOST}:{port}"


def words_of(outcome: AttemptOutcome) -> str:
    if isinstance(outcome, Answered):
        return f"{outcome.status}, {len(outcome.body)} bytes"
    return outcome.reason if isinstance(outcome, Unanswered) else "crowded"


def seconds_for(path: str) -> float:
    return SECONDS if ANSWERS[path] == NOTHING else PLENTY


ENDLESS = ("/body", "/chunks")


def expected(path: str) -> set[str]:
    """What does not end may come in pieces of any size: either bound may be reached first."""
    endless = path in ENDLESS or ANSWERS[path] == TOO_LONG
    return {ANSWERS[path], TOO_MUCH} if endless else {ANSWERS[path]}


async def assert_cheap(ca_file: Path, attempt: Attempt) -> AttemptOutcome:
    found = await cost(ca_file, attempt)
    assert found.megabytes < MEGABYTES
    assert found.left <= 0  # fewer: what an earlier test left has been closed meanwhile
    return found.outcome


def test_every_attack_is_expected_to_end_somehow() -> None:
    assert set(PATHS) == set(ANSWERS)


@pytest.mark.parametrize("path", PATHS)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_attack_on_a_verification(directory: Path, attacker: str, path: str) -> None:
    attempt = verifying(attacker + path, seconds_for(path))
    assert words_of(await assert_cheap(directory / "ca.pem", attempt)) in expected(path)


@pytest.mark.parametrize("path", PATHS)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_attack_on_a_delivery(directory: Path, attacker: str, path: str) -> None:
    """A 2xx is a 2xx, whatever comes behind its head; that is never waited for."""
    seconds = PLENTY if path == "/gzip-silence" else seconds_for(path)  # a head is an answer
    attempt = delivering(attacker + path, seconds)
    answer = words_of(await assert_cheap(directory / "ca.pem", attempt))
    headless = ("/silence", "/drip", "/headers", "/long-header", "/fold", "/interims", "/reset")
    if path in headless or path == "/broken":
        assert answer in expected(path)
    else:
        assert re.fullmatch("(200|302), 0 bytes", answer)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_silence_instead_of_tls(directory: Path) -> None:
    async with serving(mute=True) as server:
        for attempt in (verifying(server.url(), SECONDS), delivering(server.url(), SECONDS)):
            assert NOTHING == words_of(await assert_cheap(directory / "ca.pem", attempt))


@pytest.mark.parametrize(("tickets", "words"), [(20, "200, 0 bytes"), (200, USELESS)])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_tls_that_brings_no_data(tmp_path: Path, tickets: int, words: str) -> None:
    """A session ticket, or a key update, costs as much as a kilobyte of data."""
    with Subscriber(tmp_path) as subscriber:
        subscriber.context.num_tickets = tickets
        async with calling(subscriber.ca_file) as client:
            assert words == words_of(await delivering(subscriber.url())(client))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_no_redirect_is_followed(directory: Path, status: int) -> None:
    """E11: it is an answer, and not a good one."""
    async with serving() as server, calling(directory / "ca.pem") as client:
        to = callback(server.url(f"/status/{status}"))
        verified = await client.verify(to, timeout=5, slot=free_slot())
        assert isinstance(verified, Answered)
        assert status == verified.status
        assert isinstance(await delivering(to.url)(client), Answered)
        assert [to.target] * 2 == [request.target for request in server.received]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_no_cookie_is_taken(directory: Path) -> None:
    """E13: neither to another callback nor back to the one that sent it."""
    async with serving() as server, calling(directory / "ca.pem") as client:
        for path in ("/cookie", "/other", "/cookie"):
            await verifying(server.url(path, "localhost"))(client)
            await delivering(server.url(path, "localhost"))(client)
        assert [None] * 6 == [request.field("Cookie") for request in server.received]


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_attempts_given_up_half_way_leave_nothing(
    directory: Path, attacker: str, seconds: float
) -> None:
    """As when the daemon stops: while connecting, while shaking hands, while waiting."""
    before = leftovers()
    async with calling(directory / "ca.pem") as client:
        running = [
            Deferred.fromCoroutine(attempt(client))
            for path in PATHS
            for attempt in (verifying(attacker + path), delivering(attacker + path))
        ]
        await deferLater(reactor, seconds)
        for each in running:
            each.addErrback(lambda failure: failure.trap(CancelledError))
            each.cancel()
        assert set() == client._outbound._attempts
    assert leftovers() <= before  # what earlier tests have left may go meanwhile
