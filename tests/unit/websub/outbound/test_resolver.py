"""Names are resolved to addresses that may be dialed (E5, E6)."""

import socket
import threading
from collections.abc import Sequence
from ipaddress import ip_network
from typing import Any, cast

import pytest
from twisted.internet import reactor as installed
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.python.failure import Failure

from reviewsd.domain.addresses import Addresses, AddressRefusedError
from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.dialer import (
    MAX_ADDRESSES,
    PER_DOMAIN,
    PER_REQUESTER,
    Resolver,
    SystemNames,
    registered_domain,
)
from reviewsd.websub.outbound.response_parser import NoResponseError

reactor = cast("Any", installed)

PUBLIC = ["93.184.216.34", "2606:2800:21f:cb07::1"]
DEADLINE = 5.0


class PendingNames:
    """Resolves names when the test says so."""

    def __init__(self) -> None:
        self.look_ups: list[str] = []
        self._pending: dict[str, Deferred[Sequence[str]]] = {}

    def look_up(self, host: str) -> Deferred[Sequence[str]]:
        self.look_ups.append(host)
        self._pending[host] = Deferred()
        return self._pending[host]

    def answer(self, host: str, *addresses: str) -> None:
        self._pending.pop(host).callback(addresses)

    def fail(self, host: str, error: Exception) -> None:
        self._pending.pop(host).errback(error)


class Rig:
    """A Resolver whose time and names stand still."""

    def __init__(self, *networks: str) -> None:
        self.clock = Clock()
        self.names = PendingNames()
        opened = Addresses([ip_network(network) for network in networks])
        self.resolver = Resolver(self.clock, self.names.look_up, opened, DEADLINE)

    def request(self, host: str, requester: str = "") -> Deferred[Sequence[str]]:
        callback = Callback(host, 443, "/")
        return Deferred.fromCoroutine(self.resolver.resolve(callback, requester))

    def hang(self, *hosts: str, requester: str = "") -> int:
        """Request names of silent servers; return how many of these have a thread."""
        for host in hosts:
            self.request(host, requester).addErrback(lambda failure: failure.trap(NoResponseError))
        return len(set(hosts) & set(self.names.look_ups))

    def resolve(self, host: str, *addresses: str) -> Sequence[str]:
        """Request a name, and answer."""
        request = self.request(host)
        self.names.answer(host, *addresses)
        return now(request)


def now(deferred: Deferred[Sequence[str]]) -> Sequence[str]:
    """Return the result of a Deferred that has one."""
    results: list[Sequence[str]] = []
    failures: list[Failure] = []
    deferred.addCallbacks(results.append, failures.append)
    if failures:
        failures[0].raiseException()
    return list(results[0])


# Addresses --------------------------------------------------------------------------------


def test_at_most_four_addresses_are_returned() -> None:
    many = [f"93.184.216.{last}" for last in range(250)]
    assert many[:MAX_ADDRESSES] == Rig().resolve("a.example.com", *many)


@pytest.mark.parametrize(
    "refused", ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1"]
)
def test_refused_address_refuses_the_whole_name(refused: str) -> None:
    with pytest.raises(AddressRefusedError):
        Rig().resolve("a.example.com", *PUBLIC, refused)


def test_all_addresses_are_judged() -> None:
    many = [f"93.184.216.{last}" for last in range(250)] * 4
    with pytest.raises(AddressRefusedError):
        Rig().resolve("a.example.com", *many, "169.254.169.254")


def test_local_name_leads_to_opened_addresses_only() -> None:
    rig = Rig("127.0.0.0/8")
    assert ["127.0.0.1"] == rig.resolve("localhost", "::1", "127.0.0.1")


def test_name_without_addresses_is_an_error() -> None:
    with pytest.raises(NoResponseError, match="no address"):
        Rig().resolve("a.example.com")


def test_literal_is_judged_without_a_look_up() -> None:
    rig = Rig("127.0.0.0/8")
    assert ["127.0.0.1"] == now(rig.request("127.0.0.1"))
    with pytest.raises(AddressRefusedError):
        now(rig.request("10.0.0.1"))
    assert [] == rig.names.look_ups


def test_addresses_are_not_cached() -> None:
    """They may change between two connections, and are judged again."""
    rig = Rig()
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)
    with pytest.raises(AddressRefusedError):
        rig.resolve("a.example.com", "127.0.0.1")
    assert 2 == len(rig.names.look_ups)


# Look-ups -------------------------------------------------------------------------------


def test_concurrent_requests_share_a_look_up() -> None:
    rig = Rig()
    requests = [rig.request("a.example.com") for _ in range(50)]
    rig.names.answer("a.example.com", *PUBLIC)
    assert [PUBLIC] * 50 == [now(request) for request in requests]
    assert ["a.example.com"] == rig.names.look_ups


def test_look_up_beyond_the_deadline_fails() -> None:
    rig = Rig()
    request = rig.request("a.example.com")
    rig.clock.advance(DEADLINE)
    with pytest.raises(NoResponseError, match="within 5 s"):
        now(request)
    assert [] == rig.clock.getDelayedCalls()


def test_hanging_name_holds_one_thread() -> None:
    rig = Rig()
    first = rig.request("a.example.com")
    rig.clock.advance(DEADLINE)
    with pytest.raises(NoResponseError):
        now(first)
    with pytest.raises(NoResponseError, match="not answered yet"):
        now(rig.request("a.example.com"))
    assert ["a.example.com"] == rig.names.look_ups

    rig.names.answer(
        "a.example.com", *PUBLIC
    )  # too late for these two, but its thread has returned
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)


def test_look_up_without_a_thread_waits() -> None:
    """Its deadline begins with its thread (E6)."""
    rig = Rig()
    stuck = [rig.request(f"{number}.example.com") for number in range(PER_DOMAIN)]
    good = rig.request("good.example.com")
    assert PER_DOMAIN == len(rig.names.look_ups)

    rig.clock.advance(DEADLINE)
    for request in stuck:
        with pytest.raises(NoResponseError):
            now(request)
    assert "good.example.com" not in rig.names.look_ups
    rig.names.answer("3.example.com")  # a thread returns
    rig.clock.advance(DEADLINE - 1)
    rig.names.answer("good.example.com", *PUBLIC)
    assert PUBLIC == now(good)


def cancel(request: Deferred[Sequence[str]]) -> None:
    request.cancel()
    with pytest.raises(CancelledError):
        now(request)


def test_cancelled_request_does_not_end_a_shared_look_up() -> None:
    rig = Rig()
    leaving, staying = rig.request("a.example.com"), rig.request("a.example.com")
    cancel(leaving)
    rig.names.answer("a.example.com", *PUBLIC)
    assert PUBLIC == now(staying)


def test_last_cancelled_request_ends_the_deadline() -> None:
    rig = Rig()
    cancel(rig.request("a.example.com"))
    assert [] == rig.clock.getDelayedCalls()
    rig.names.answer("a.example.com", *PUBLIC)
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)


def test_unexpected_error_of_a_look_up_is_logged_and_frees_its_thread() -> None:
    rig = Rig()
    request = rig.request("a.example.com")
    with capturedLogs() as events:
        rig.names.fail("a.example.com", MemoryError())
    assert ["the look-up of a name failed"] == [event["log_format"] for event in events]
    with pytest.raises(NoResponseError, match="no address"):
        now(request)
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)


@pytest.mark.parametrize("ends", ["answer", "deadline"])
def test_request_may_cancel_another_one_of_its_look_up(ends: str) -> None:
    rig = Rig()
    first, second = rig.request("a.example.com"), rig.request("a.example.com")

    def cancel_second(result: object) -> object:
        second.cancel()
        return result

    first.addBoth(cancel_second)
    if ends == "answer":
        rig.names.answer("a.example.com", *PUBLIC)
        assert PUBLIC == now(first)
    else:
        rig.clock.advance(DEADLINE)
        with pytest.raises(NoResponseError):
            now(first)
        rig.names.answer("a.example.com", *PUBLIC)
    with pytest.raises(CancelledError):
        now(second)
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)


def test_cancelled_request_in_the_queue_is_not_looked_up() -> None:
    rig = Rig()
    for number in range(PER_DOMAIN):
        rig.request(f"{number}.example.com")
    cancel(rig.request("good.example.com"))
    rig.names.answer("3.example.com", *PUBLIC)
    assert "good.example.com" not in rig.names.look_ups


# Limits ---------------------------------------------------------------------------------

ATTACKER, OTHER = "203.0.113.7/32", "198.51.100.7/32"
DOMAINS = [f"a.silent{number}.com" for number in range(200)]


def names_of(domain: str, count: int = 200) -> list[str]:
    return [f"a{number}.{domain}" for number in range(count)]


def test_hanging_names_of_many_domains_do_not_delay_other_names() -> None:
    rig = Rig()
    rig.hang(*DOMAINS)
    assert PUBLIC == rig.resolve("good.example.com", *PUBLIC)


def test_registered_domain_has_few_threads() -> None:
    rig = Rig()
    assert PER_DOMAIN == rig.hang(*names_of("silent.co.uk"))
    assert PER_DOMAIN == rig.hang(*names_of("silent.com"))
    assert PUBLIC == rig.resolve("good.co.uk", *PUBLIC)


def test_requester_has_few_threads() -> None:
    rig = Rig()
    assert PER_REQUESTER == rig.hang(*DOMAINS, requester=ATTACKER)
    request = rig.request("good.example.com", OTHER)
    rig.names.answer("good.example.com", *PUBLIC)
    assert PUBLIC == now(request)
    rig.names.answer(DOMAINS[0])
    assert DOMAINS[PER_REQUESTER] in rig.names.look_ups
    assert DOMAINS[PER_REQUESTER + 1] not in rig.names.look_ups


def test_name_is_not_held_up_by_another_requester() -> None:
    rig = Rig()
    rig.hang(*DOMAINS, requester=ATTACKER)
    waiting = rig.request("good.example.com", ATTACKER)
    assert "good.example.com" not in rig.names.look_ups
    request = rig.request("good.example.com", OTHER)
    rig.names.answer("good.example.com", *PUBLIC)
    assert [PUBLIC, PUBLIC] == [now(request), now(waiting)]


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("shop.example.de", "example.de"),
        ("www.abc.de", "www.abc.de"),
        ("localhost", "localhost"),
    ],
)
def test_registered_domain_of_a_name(host: str, domain: str) -> None:
    assert domain == registered_domain(host)


# The system's resolver ----------------------------------------------------------------------------


def resolver_of(names: SystemNames) -> Resolver:
    opened = Addresses([ip_network("127.0.0.0/8"), ip_network("::1/128")])
    return Resolver(reactor, names.look_up, opened, DEADLINE)


@pytest.mark.parametrize("error", [socket.gaierror(), OSError(24, "Too many open files")])
async def test_failure_of_the_system_is_a_name_without_addresses(
    monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def getaddrinfo(*_: object, **__: object) -> list[Any]:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    names = SystemNames(reactor)
    try:
        with pytest.raises(NoResponseError, match="no address"):
            await resolver_of(names).resolve(Callback("a.example.com", 443, "/"))
    finally:
        names.stop()


async def test_stop_does_not_wait_for_a_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS may take longer than a stop may (O4)."""
    began: Deferred[threading.Thread] = Deferred()
    answered = threading.Event()

    def getaddrinfo(*_: object, **__: object) -> list[Any]:
        reactor.callFromThread(began.callback, threading.current_thread())
        answered.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    names = SystemNames(reactor)
    callback = Callback("a.example.com", 443, "/")
    request = Deferred.fromCoroutine(resolver_of(names).resolve(callback))
    thread = await began
    try:
        names.stop()
        assert thread.is_alive()
        assert thread.daemon
    finally:
        answered.set()
    with pytest.raises(NoResponseError, match="no address"):
        await request
    thread.join(5)
    assert not thread.is_alive()


async def test_system_knows_localhost() -> None:
    names = SystemNames(reactor)
    try:
        addresses = await resolver_of(names).resolve(Callback("localhost", 443, "/"))
        assert "127.0.0.1" in addresses
    finally:
        names.stop()
