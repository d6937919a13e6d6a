"""The way out: checks before dialing, places in networks, kept connections, timeouts, the end (E4 to E7)."""

import errno
from pathlib import Path
from typing import Any, cast

import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.error import ConnectError, TimeoutError  # noqa: A004 - Twisted's
from twisted.internet.task import deferLater
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.agent import MAX_IDLE, MAX_IDLE_PER_HOST, CallbackAgent, Pool
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.dialer import Dialer, Resolver
from reviewsd.websub.outbound.tls import Tls
from tests.support.authority import authority
from tests.support.callbacks import HOST, serving
from tests.support.hostile import delivering, leftovers, verifying
from tests.support.outbound import (
    FULL,
    LOOPBACK,
    USER_AGENT,
    Missing,
    Names,
    Outcome,
    Received,
    Sender,
    free_slot,
    many_slots,
    reactor,
    sending,
)

ACCEPTED = Received(200, b"", None, HOST)
PUBLIC = ("93.184.216.34", "93.184.217.34", "2606:2800:21f:cb07::1")


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return authority().identity.write(tmp_path / "ca.pem")


# Addresses that are never dialed ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        (HOST, []),
        ("localhost", [HOST]),
        ("a.example.com", [HOST]),
        ("a.example.com", [PUBLIC[0], HOST]),
        ("a.example.com", ["::ffff:127.0.0.1"]),
    ],
)
async def test_refused_address_is_not_dialed(
    ca_file: Path, host: str, addresses: list[str]
) -> None:
    names = Names({host: addresses})
    async with serving() as server, sending(ca_file, look_up=names.look_up, networks=()) as sender:
        for attempt in (verifying(server.url("/", host)), delivering(server.url("/", host))):
            outcome = await attempt(sender)
            assert isinstance(outcome, Missing)
            assert "refused" in outcome.reason
        assert 0 == server.connections


async def test_name_that_is_rebound_is_judged_again(ca_file: Path) -> None:
    """Its address is allowed at first, and loopback from then on (E7)."""
    names = Names({"a.example.com": [HOST]})
    async with (
        serving() as server,
        sending(ca_file, look_up=names.look_up, networks=LOOPBACK[:1]) as sender,
    ):
        url = server.url("/closing", "a.example.com")
        assert "certificate" in str(await sender.deliver(url))  # it was dialed
        names.addresses["a.example.com"] = ["::1"]
        assert "refused" in str(await sender.deliver(url))
        assert 1 == server.connections


@pytest.mark.parametrize("interface", [HOST, "0.0.0.0", "::"])
@pytest.mark.parametrize("host", [HOST, "localhost"])
async def test_own_listener_is_not_called(ca_file: Path, interface: str, host: str) -> None:
    listeners: set[tuple[str, int]] = set()
    async with serving() as server, sending(ca_file, own_listeners=listeners) as sender:
        assert ACCEPTED == await sender.deliver(server.url("/closing", host))
        listeners.add((interface, server.port))
        outcome = await sender.deliver(server.url("/", host))
        assert Missing("the callback leads to this service itself", None) == outcome
        assert 1 == server.connections


def test_listener_on_all_addresses_is_on_this_host_only() -> None:
    resolver = Resolver(reactor, Names().look_up, Addresses())
    dialer = Dialer(reactor, resolver, Addresses(), {("0.0.0.0", 443), ("10.0.0.1", 444)})
    assert [False, False, True] == [
        dialer.is_own(PUBLIC[0], 443),
        dialer.is_own(PUBLIC[2], 443),
        dialer.is_own("127.0.0.7", 443),
    ]
    assert [True, False, False] == [
        dialer.is_own("10.0.0.1", 444),
        dialer.is_own("127.0.0.1", 444),
        dialer.is_own("127.0.0.1", 445),
    ]


async def test_name_resolver_of_the_reactor_is_not_used(ca_file: Path) -> None:
    """E4."""
    before = reactor.nameResolver
    reactor.installNameResolver(None)
    try:
        async with serving() as server, sending(ca_file) as sender:
            for attempt in (verifying, delivering):
                outcome = await attempt(server.url("/", "localhost"))(sender)
                assert isinstance(outcome, Received)
    finally:
        reactor.installNameResolver(before)


# Dialing, without sockets -------------------------------------------------------------------------


class Rig:
    """An attempt at ``a.example.com``, whose names and sockets the test controls."""

    def __init__(self, ca_file: Path, *addresses: str, per_network: int = 1) -> None:
        self.reactor = cast("Any", MemoryReactorClock())
        allowed = Addresses()
        self.slots = many_slots(per_network)
        self.agent = CallbackAgent(
            self.reactor,
            Dialer(
                self.reactor,
                Resolver(self.reactor, Names({"a.example.com": addresses}).look_up, allowed),
                allowed,
                set(),
            ),
            Tls(self.reactor, ca_file),
            USER_AGENT,
        )
        self.outcomes: list[Outcome] = []
        self.failures: list[Any] = []

    def begin(self, seconds: float = 15.0) -> Deferred[None]:
        sender = Sender(self.agent, self.reactor)
        attempt = Deferred.fromCoroutine(
            sender.verify("https://a.example.com/", seconds=seconds, slots=self.slots)
        )
        return attempt.addCallbacks(self.outcomes.append, self.failures.append)

    @property
    def dialed(self) -> list[tuple[str, float]]:
        return [(host, timeout) for host, _, _, timeout, _ in self.reactor.tcpClients]

    def connect_to(self, address: str) -> object:
        factory = self.reactor.tcpClients[-1][2]
        return factory.buildProtocol(IPv4Address("TCP", address, 443))


def test_addresses_share_the_time_to_connect(ca_file: Path) -> None:
    """One that is silent does not use up the time of the others."""
    rig = Rig(ca_file, *PUBLIC[:2])
    rig.begin()
    assert [(PUBLIC[0], 5.0)] == rig.dialed


@pytest.mark.parametrize("peer", [PUBLIC[1], HOST, "169.254.169.254", "nonsense"])
def test_peer_other_than_the_one_dialed_gets_nothing(ca_file: Path, peer: str) -> None:
    """The backstop of E7, for a resolver or a kernel that lies."""
    rig = Rig(ca_file, PUBLIC[0])
    rig.begin()
    assert rig.connect_to(peer) is None
    assert [Missing("connected to an address other than the one dialed", PUBLIC[0])] == rig.outcomes
    rig.reactor.advance(15)
    assert [] == rig.reactor.getDelayedCalls()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TimeoutError(), "no connection within 10 s"),
        (ConnectError(errno.EHOSTUNREACH), "no connection: No route to host"),
        (ConnectError(), "no connection"),
    ],
)
def test_failed_connect_has_a_reason(ca_file: Path, error: Exception, text: str) -> None:
    rig = Rig(ca_file, PUBLIC[0])
    rig.begin()
    rig.reactor.tcpClients[0][2].clientConnectionFailed(None, Failure(error))
    assert [Missing(text, PUBLIC[0])] == rig.outcomes


@pytest.mark.parametrize("end", ["timeout", "cancelled"])
def test_dial_ends_with_its_attempt(ca_file: Path, end: str) -> None:
    """Once, a dial that was cancelled passed for one that had failed, and the next one began."""
    rig = Rig(ca_file, *PUBLIC[:2])
    attempt = rig.begin(seconds=2.0)
    connector = rig.reactor.connectors[0]
    connector.stopConnecting = lambda: rig.reactor.tcpClients[0][2].clientConnectionFailed(
        connector, Failure(CancelledError())
    )
    if end == "timeout":
        rig.reactor.advance(2.0)
        assert [Missing("no answer within 2 s", PUBLIC[0])] == rig.outcomes
    else:
        attempt.cancel()
        assert [CancelledError] == [failure.type for failure in rig.failures]
    assert 1 == len(rig.dialed)
    assert 0 == rig.slots.occupied
    assert [] == rig.reactor.getDelayedCalls()


def test_address_in_a_full_network_is_skipped(ca_file: Path) -> None:
    rig = Rig(ca_file, *PUBLIC[:2])
    assert free_slot(rig.slots).try_enter_network(PUBLIC[0])
    rig.begin()
    assert [(PUBLIC[1], 10.0)] == rig.dialed


# Real sockets -------------------------------------------------------------------------------------


async def test_next_address_is_tried_after_a_failure(ca_file: Path) -> None:
    names = Names({"localhost": ["127.0.0.2", "127.0.0.3", HOST]})
    async with serving() as server, sending(ca_file, look_up=names.look_up) as sender:
        assert ACCEPTED == await sender.deliver(server.url("/", "localhost"))


async def test_full_network_is_not_called(ca_file: Path) -> None:
    slots = many_slots(per_network=2)
    async with serving() as server, sending(ca_file) as sender:
        url = server.url("/slow/0.1")
        outcomes = await gatherResults(
            [Deferred.fromCoroutine(sender.deliver(url, slots=slots)) for _ in range(5)]
        )
        assert [ACCEPTED] * 2 + [FULL] * 3 == sorted(outcomes, key=str)
        assert 2 == server.connections

        occupied = [free_slot(slots) for _ in range(2)]
        assert all(slot.try_enter_network(HOST) for slot in occupied)
        assert FULL == await sender.deliver(url, slots=slots)  # also on a kept connection
        slots.leave(occupied[0])
        assert ACCEPTED == await sender.deliver(url, slots=slots)
        assert 2 == server.connections


async def test_timeout_is_around_the_whole_exchange(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        url = server.url("/silence")
        for attempt in (sender.verify(url, seconds=0.1), sender.deliver(url, seconds=0.1)):
            assert Missing("no answer within 0.1 s", HOST) == await attempt
        await server.until_closed_by_client()


# Kept connections ---------------------------------------------------------------------------------


async def deliver_times(sender: Sender, url: str, times: int) -> None:
    for _ in range(times):
        assert ACCEPTED == await sender.deliver(url)


@pytest.mark.parametrize("path", ["/", "/status/200", "/chunked", "/interim", "/long/10000"])
async def test_deliveries_share_a_connection(ca_file: Path, path: str) -> None:
    """Nothing is resolved for it, and its byte budget is that of one exchange."""
    names = Names()
    async with serving() as server, sending(ca_file, look_up=names.look_up) as sender:
        await deliver_times(sender, server.url(path, "localhost"), 20)
        assert (1, 1) == (server.connections, names.look_ups.total())


async def test_connection_is_shared_once_its_response_is_complete(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        await deliver_times(sender, server.url("/wordy"), 1)
        await deferLater(reactor, 0.1)
        await deliver_times(sender, server.url("/wordy"), 2)  # too early for the second
        assert 2 == server.connections


@pytest.mark.parametrize("path", ["/closing", "/until-closed", "/long/99999", "/forgetful"])
async def test_connection_that_ends_is_not_shared(ca_file: Path, path: str) -> None:
    async with serving() as server, sending(ca_file) as sender:
        for _ in range(3):
            await deliver_times(sender, server.url(path), 1)
            await deferLater(reactor, 0.02)
        assert 3 == server.connections
        await server.until_closed_by_client()


async def test_verification_has_a_connection_of_its_own(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        for _ in range(2):
            await deliver_times(sender, server.url(), 1)
            assert isinstance(await verifying(server.url())(sender), Received)
        assert 3 == server.connections


async def test_connection_is_for_one_host_and_port(ca_file: Path) -> None:
    async with serving() as server, serving() as other, sending(ca_file) as sender:
        for _ in range(2):
            for url in (server.url(), server.url("/", "localhost"), other.url()):
                await deliver_times(sender, url, 1)
        assert (2, 1) == (server.connections, other.connections)


async def test_kept_connection_that_died_is_no_failure(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        await deliver_times(sender, server.url("/worsening/reset"), 5)
        assert 5 == server.connections
        assert 9 == len(server.received)


async def test_request_with_the_begin_of_a_response_is_not_repeated(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        url = server.url("/worsening/broken")
        await deliver_times(sender, url, 1)
        assert "broken HTTP" in str(await sender.deliver(url))
        assert (1, 2) == (server.connections, len(server.received))


async def test_request_that_is_cancelled_before_its_turn_is_not_sent(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        await deliver_times(sender, server.url(), 1)
        attempt = Deferred.fromCoroutine(sender.deliver(server.url()))
        attempt.cancel()
        with pytest.raises(CancelledError):
            await attempt
        await server.until_closed_by_client()
        assert 1 == len(server.received)


async def test_connections_beyond_the_limit_are_closed(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        url = server.url("/slow/0.1")
        await gatherResults(
            [Deferred.fromCoroutine(sender.deliver(url)) for _ in range(MAX_IDLE_PER_HOST + 9)]
        )
        await deferLater(reactor, 0.1)
        assert MAX_IDLE_PER_HOST == len(server.open)


class IdleConnection:
    """A connection of a pool."""

    def __init__(self, number: int) -> None:
        self.callback = Callback(f"{number}.example.com", 443, "/")
        self.is_ready = True
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_connection_that_was_idle_longest_makes_room() -> None:
    pool = Pool()
    connections = [IdleConnection(number) for number in range(MAX_IDLE + 1)]
    oldest = connections[0]
    for connection in connections[:MAX_IDLE]:
        pool.keep(cast("Connection", connection))
    assert oldest is cast("object", pool.acquire(oldest.callback))  # the newest, once it is kept
    for connection in (oldest, connections[MAX_IDLE]):
        pool.keep(cast("Connection", connection))
    assert [connections[1]] == [connection for connection in connections if connection.closed]


async def test_kept_connection_is_closed_in_the_middle_of_its_lifetime(ca_file: Path) -> None:
    """A second, in which a busy machine, too, makes three deliveries."""
    async with serving() as server:
        before = leftovers()
        async with sending(ca_file, max_lifetime=2.0) as sender:
            await deliver_times(sender, server.url(), 3)
            assert 1 == len(server.open)
            await server.until_closed_by_client()
            assert 0 == server.cut_off
            await deliver_times(sender, server.url(), 1)
            assert 2 == server.connections
        await server.until_closed_by_client()
        assert leftovers() <= before  # fewer, if those of an earlier test are closed meanwhile


async def test_exchange_in_the_second_half_of_a_lifetime_is_the_last(ca_file: Path) -> None:
    """The end of the lifetime came before the response to another one."""
    async with serving() as server, sending(ca_file, max_lifetime=1.0) as sender:
        await deliver_times(sender, server.url("/slow/0.7"), 1)
        await deliver_times(sender, server.url(), 1)
        assert [2, 2] == [len(server.received), server.connections]


async def test_each_connection_is_kept_for_the_same_time(ca_file: Path) -> None:
    async with (
        serving() as server,
        serving() as other,
        sending(ca_file, max_lifetime=1.0) as sender,
    ):
        await deliver_times(sender, server.url(), 1)
        await deferLater(reactor, 0.1)
        await deliver_times(sender, other.url(), 1)
        await server.until_closed_by_client()
        assert 1 == len(other.open)
        await other.until_closed_by_client()


async def test_connection_has_a_hard_lifetime(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file, max_lifetime=0.1) as sender:
        outcome = await verifying(server.url("/silence"))(sender)
        assert Missing("the connection took longer than 0.1 s", HOST) == outcome
        await server.until_closed_by_client()


# The end ------------------------------------------------------------------------------------------


async def test_close_ends_requests_and_kept_connections(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        await deliver_times(sender, server.url(), 1)
        running = [
            Deferred.fromCoroutine(attempt(server.url("/silence"))(sender))
            for attempt in (verifying, delivering)
        ]
        await server.until_received(3)
        await sender.agent.close()
        stopped = Missing("this service is stopping", HOST)
        assert [stopped] * 2 == [await request for request in running]
        await server.until_closed_by_client()
        assert Missing("this service is stopping", None) == await sender.deliver(server.url())
