"""The way out: checks before dialling, admission, kept connections, time, and the end (E4 to E7)."""

import errno
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.address import IPv4Address
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.error import ConnectError, TimeoutError  # noqa: A004 - Twisted's
from twisted.internet.task import deferLater
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure

from reviewsd.domain.addresses import Addresses
from reviewsd.websub.outbound.client import CallbackClient
from reviewsd.websub.outbound.dialer import Dialer
from reviewsd.websub.outbound.exchange import OutboundRequest
from reviewsd.websub.outbound.outcomes import Answered, AttemptOutcome, Throttled, Unanswered
from reviewsd.websub.outbound.pool import MAX_KEPT_PER_HOST
from reviewsd.websub.outbound.requests import AttemptLimits, Outbound
from reviewsd.websub.outbound.resolver import Resolver
from reviewsd.websub.outbound.tls import Tls
from reviewsd.websub.slots import Slots
from tests.support.authority import authority
from tests.support.callbacks import HOST, serving
from tests.support.hostile import delivering, leftovers, verifying
from tests.support.outbound import (
    LOOPBACK,
    Names,
    callback,
    calling,
    free_slot,
    many_slots,
    push,
    reactor,
)

ACCEPTED = Answered(status=200, headers={}, body=b"", address=HOST)
PUBLIC = ("93.184.216.34", "93.184.217.34", "2606:2800:21f:cb07::1")


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return authority().identity.write(tmp_path / "ca.pem")


async def deliver(client: CallbackClient, url: str, slots: Slots | None = None) -> AttemptOutcome:
    slots = slots or many_slots()
    slot = free_slot(slots)
    try:
        return await client.deliver(callback(url), push(), timeout=5, slot=slot)
    finally:
        slots.leave(slot)


# Who is never dialled -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "answers"),
    [
        (HOST, []),
        ("localhost", [HOST]),
        ("a.example.com", [HOST]),
        ("a.example.com", [PUBLIC[0], HOST]),
        ("a.example.com", ["::ffff:127.0.0.1"]),
    ],
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_is_refused_is_not_dialled(ca_file: Path, host: str, answers: list[str]) -> None:
    async with (
        serving() as server,
        calling(ca_file, names=Names({host: answers}), networks=()) as client,
    ):
        for attempt in (verifying(server.url("/", host)), delivering(server.url("/", host))):
            outcome = await attempt(client)
            assert isinstance(outcome, Unanswered)
            assert "refused" in outcome.reason
        assert 0 == server.connections


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_answer_that_flips_is_judged_anew(ca_file: Path) -> None:
    """Rebinding: good when it is first asked for, and loopback from then on (E7)."""
    names = Names({"a.example.com": [HOST]})
    opened = LOOPBACK[:1]
    async with serving() as server, calling(ca_file, names=names, networks=opened) as client:
        url = server.url("/closing", "a.example.com")
        assert "certificate" in str(await deliver(client, url))  # it was dialled
        names.known["a.example.com"] = ["::1"]
        assert "refused" in str(await deliver(client, url))
        assert 1 == server.connections


@pytest.mark.parametrize("interface", [HOST, "0.0.0.0", "::"])
@pytest.mark.parametrize("host", [HOST, "localhost"])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_service_does_not_call_itself(ca_file: Path, interface: str, host: str) -> None:
    listeners: set[tuple[str, int]] = set()
    async with serving() as server, calling(ca_file, own_listeners=listeners) as client:
        assert ACCEPTED == await deliver(client, server.url("/closing", host))
        listeners.add((interface, server.port))
        outcome = await deliver(client, server.url("/", host))
        assert Unanswered("the callback leads to this service itself", None) == outcome
        assert 1 == server.connections


def test_a_listener_on_all_addresses_is_on_this_host_only() -> None:
    dialler = Dialer(reactor, Addresses(), {("0.0.0.0", 443), ("10.0.0.1", 444)})
    assert [False, False, True] == [
        dialler.is_own(PUBLIC[0], 443),
        dialler.is_own(PUBLIC[2], 443),
        dialler.is_own("127.0.0.7", 443),
    ]
    assert [True, False, False] == [
        dialler.is_own("10.0.0.1", 444),
        dialler.is_own("127.0.0.1", 444),
        dialler.is_own("127.0.0.1", 445),
    ]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nothing_else_resolves_names(ca_file: Path) -> None:
    """E4: with the reactor's own resolver out of order, all goes on."""
    before = reactor.nameResolver
    reactor.installNameResolver(None)
    try:
        async with serving() as server, calling(ca_file) as client:
            for attempt in (verifying, delivering):
                outcome = await attempt(server.url("/", "localhost"))(client)
                assert isinstance(outcome, Answered)
    finally:
        reactor.installNameResolver(before)


# Dialling, in a world without sockets -------------------------------------------------------------


class Rig:
    """An attempt on ``a.example.com``, whose names and sockets are under control."""

    def __init__(self, ca_file: Path, *answers: str, limit: int = 1) -> None:
        self.reactor: Any = MemoryReactorClock()
        addresses = Addresses()
        self.slots = many_slots(limit)
        self.outbound = Outbound(
            self.reactor,
            Resolver(self.reactor, Names({"a.example.com": answers}), addresses, 5.0),
            Dialer(self.reactor, addresses, set()),
            Tls(self.reactor, ca_file),
            AttemptLimits(),
        )
        self.outcomes: list[AttemptOutcome] = []
        self.failures: list[Any] = []

    def begin(self, seconds: float = 15.0) -> Deferred[None]:
        attempt = Deferred.fromCoroutine(
            self.outbound.exchange(
                callback("https://a.example.com/"),
                OutboundRequest(b""),
                timeout=seconds,
                slot=free_slot(self.slots),
            )
        )
        return attempt.addCallbacks(self.outcomes.append, self.failures.append)

    @property
    def dialled(self) -> list[tuple[str, float]]:
        return [(host, timeout) for host, _, _, timeout, _ in self.reactor.tcpClients]

    def connected_to(self, address: str) -> object:
        factory = self.reactor.tcpClients[-1][2]
        return factory.buildProtocol(IPv4Address("TCP", address, 443))


def test_the_addresses_share_the_time_to_connect(ca_file: Path) -> None:
    """A first one that is silent does not use up that of the others."""
    rig = Rig(ca_file, *PUBLIC[:2])
    rig.begin()
    assert [(PUBLIC[0], 5.0)] == rig.dialled


@pytest.mark.parametrize("peer", [PUBLIC[1], HOST, "169.254.169.254", "nonsense"])
def test_a_peer_other_than_the_one_dialled_gets_nothing(ca_file: Path, peer: str) -> None:
    """The backstop of E7, for a resolver or a kernel that lies."""
    rig = Rig(ca_file, PUBLIC[0])
    rig.begin()
    assert rig.connected_to(peer) is None
    assert [Unanswered("connected to another address than dialled", PUBLIC[0])] == rig.outcomes
    assert [] == rig.reactor.getDelayedCalls()


def test_the_peer_that_was_dialled_is_talked_to(ca_file: Path) -> None:
    rig = Rig(ca_file, PUBLIC[0])
    rig.begin()
    assert rig.connected_to(PUBLIC[0]) is not None


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TimeoutError(), "no connection within 10 s"),
        (ConnectError(errno.EHOSTUNREACH), "no connection: No route to host"),
        (ConnectError(), "no connection"),
    ],
)
def test_why_there_is_no_connection_is_said(ca_file: Path, error: Exception, words: str) -> None:
    rig = Rig(ca_file, PUBLIC[0])
    rig.begin()
    rig.reactor.tcpClients[0][2].clientConnectionFailed(None, Failure(error))
    assert [Unanswered(words, PUBLIC[0])] == rig.outcomes


@pytest.mark.parametrize("how", ["timeout", "cancelled", "closed"])
def test_dialling_ends_with_its_attempt(ca_file: Path, how: str) -> None:
    """Once, a dial that was given up passed for one that had failed, and the next one began."""
    rig = Rig(ca_file, *PUBLIC[:2])
    attempt = rig.begin(seconds=2.0)
    connector = rig.reactor.connectors[0]
    connector.stopConnecting = lambda: rig.reactor.tcpClients[0][2].clientConnectionFailed(
        connector, CancelledError()
    )
    if how == "timeout":
        rig.reactor.advance(2.0)
        assert [Unanswered("no answer within 2 s", PUBLIC[0])] == rig.outcomes
    elif how == "closed":
        Deferred.fromCoroutine(rig.outbound.close())
        assert [Unanswered("this service is stopping", PUBLIC[0])] == rig.outcomes
    else:
        attempt.cancel()
        assert [CancelledError] == [each.type for each in rig.failures]
    assert 1 == len(rig.dialled)
    assert [] == rig.reactor.getDelayedCalls()


def test_a_crowded_network_is_passed_over(ca_file: Path) -> None:
    rig = Rig(ca_file, *PUBLIC[:2])
    assert free_slot(rig.slots).try_dial(PUBLIC[0])
    rig.begin()
    assert [(PUBLIC[1], 10.0)] == rig.dialled


# Real sockets -------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_next_address_is_tried(ca_file: Path) -> None:
    names = Names({"localhost": ["127.0.0.2", "127.0.0.3", HOST]})
    async with serving() as server, calling(ca_file, names=names) as client:
        assert ACCEPTED == await deliver(client, server.url("/", "localhost"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nobody_there_is_said(ca_file: Path) -> None:
    async with serving() as server:
        url = server.url()
    async with calling(ca_file) as client:
        for attempt in (verifying(url), delivering(url)):
            assert Unanswered("no connection: Connection refused", HOST) == await attempt(client)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_unknown_name_is_said(ca_file: Path) -> None:
    async with calling(ca_file) as client:
        outcome = await verifying("https://a.example.com/")(client)
        assert Unanswered("the name has no address", None) == outcome


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_full_network_is_not_called(ca_file: Path) -> None:
    slots = many_slots(per_network=2)
    async with serving() as server, calling(ca_file) as client:
        url = server.url("/slow/0.1")
        outcomes = await gatherResults(
            [Deferred.fromCoroutine(deliver(client, url, slots)) for _ in range(5)]
        )
        assert [ACCEPTED] * 2 + [Throttled(HOST)] * 3 == sorted(outcomes, key=str)
        assert 2 == server.connections

        taken = [free_slot(slots) for _ in range(2)]
        assert all(slot.try_dial(HOST) for slot in taken)
        assert Throttled(HOST) == await deliver(client, url, slots)  # also on a kept connection
        slots.leave(taken[0])
        assert ACCEPTED == await deliver(client, url, slots)
        assert 2 == server.connections


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_one_timeout_is_around_the_whole_exchange(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        to = callback(server.url("/silence"))
        for method in (
            client.verify(to, timeout=0.1, slot=free_slot()),
            client.deliver(to, push(), timeout=0.1, slot=free_slot()),
        ):
            assert Unanswered("no answer within 0.1 s", HOST) == await method
        await server.until_left()


# Kept connections ---------------------------------------------------------------------------------


async def deliver_times(client: CallbackClient, url: str, times: int) -> None:
    for _ in range(times):
        assert ACCEPTED == await deliver(client, url)


@pytest.mark.parametrize("path", ["/", "/status/200", "/chunked", "/interim", "/long/10000"])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_deliveries_share_a_connection(ca_file: Path, path: str) -> None:
    """Nothing is resolved for it; and what is received is counted anew each time."""
    names = Names()
    async with serving() as server, calling(ca_file, names=names) as client:
        await deliver_times(client, server.url(path, "localhost"), 20)
        assert (1, 1) == (server.connections, names.asked.total())


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_answer_may_end_after_the_delivery_has(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        await deliver_times(client, server.url("/wordy"), 1)
        await deferLater(reactor, 0.1)
        await deliver_times(client, server.url("/wordy"), 2)  # too early for the second to share
        assert 2 == server.connections


@pytest.mark.parametrize("path", ["/closing", "/until-closed", "/long/99999", "/forgetful"])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_that_ends_is_not_shared(ca_file: Path, path: str) -> None:
    async with serving() as server, calling(ca_file) as client:
        for _ in range(3):
            await deliver_times(client, server.url(path), 1)
            await deferLater(reactor, 0.02)
        assert 3 == server.connections
        await server.until_left()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_verification_has_a_connection_of_its_own(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        for _ in range(2):
            await deliver_times(client, server.url(), 1)
            assert isinstance(await verifying(server.url())(client), Answered)
        assert 3 == server.connections


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_is_for_one_host_and_port(ca_file: Path) -> None:
    async with serving() as server, serving() as other, calling(ca_file) as client:
        for _ in range(2):
            for url in (server.url(), server.url("/", "localhost"), other.url()):
                await deliver_times(client, url, 1)
        assert (2, 1) == (server.connections, other.connections)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_kept_connection_that_has_died_is_no_failure(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        await deliver_times(client, server.url("/worsening/reset"), 5)
        assert 5 == server.connections
        assert 9 == len(server.received)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_was_answered_on_a_kept_connection_is_not_sent_again(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        url = server.url("/worsening/broken")
        await deliver_times(client, url, 1)
        assert "broken HTTP" in str(await deliver(client, url))
        assert (1, 2) == (server.connections, len(server.received))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_is_cancelled_before_its_turn_is_not_sent(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        await deliver_times(client, server.url(), 1)
        attempt = Deferred.fromCoroutine(deliver(client, server.url()))
        attempt.cancel()
        with pytest.raises(CancelledError):
            await attempt
        await server.until_left()
        assert 1 == len(server.received)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_only_so_many_are_kept(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        url = server.url("/slow/0.1")
        await gatherResults(
            [Deferred.fromCoroutine(deliver(client, url)) for _ in range(MAX_KEPT_PER_HOST + 9)]
        )
        await deferLater(reactor, 0.1)
        assert MAX_KEPT_PER_HOST == len(server.open)


@pytest.mark.parametrize(
    "limits", [AttemptLimits(idle_seconds=1.0), AttemptLimits(max_lifetime=1.0)]
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_kept_connection_waits_only_so_long(ca_file: Path, limits: AttemptLimits) -> None:
    """A second, in which also a busy machine makes three deliveries."""
    async with serving() as server:
        before = leftovers()
        async with calling(ca_file, limits=limits) as client:
            await deliver_times(client, server.url(), 3)
            assert 1 == len(server.open)
            await server.until_left()
            await deliver_times(client, server.url(), 1)
            assert 2 == server.connections
        await server.until_left()
        assert leftovers() <= before  # what earlier tests have left may go meanwhile


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_each_waits_as_long_as_the_other(ca_file: Path) -> None:
    limits = AttemptLimits(idle_seconds=0.2)
    async with (
        serving() as server,
        serving() as other,
        calling(ca_file, limits=limits) as client,
    ):
        await deliver_times(client, server.url(), 1)
        await deferLater(reactor, 0.1)
        await deliver_times(client, other.url(), 1)
        await server.until_left()
        assert 1 == len(other.open)
        await other.until_left()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_has_a_hard_end(ca_file: Path) -> None:
    async with (
        serving() as server,
        calling(ca_file, limits=AttemptLimits(max_lifetime=0.1)) as client,
    ):
        outcome = await verifying(server.url("/silence"))(client)
        assert Unanswered("the connection took longer than 0.1 s", HOST) == outcome
        await server.until_left()


# The end ------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_closing_ends_what_waits_and_what_runs(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        await deliver_times(client, server.url(), 1)
        running = [
            Deferred.fromCoroutine(attempt(server.url("/silence"))(client))
            for attempt in (verifying, delivering)
        ]
        await server.until_received(3)
        await client.close()
        stopped = Unanswered("this service is stopping", HOST)
        assert [stopped] * 2 == [await each for each in running]
        await server.until_left()
        assert Unanswered("this service is stopping", None) == await deliver(client, server.url())


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_closing_while_nothing_runs_returns_at_once(ca_file: Path) -> None:
    async with calling(ca_file) as client:
        await client.close()
        await client.close()
