"""From names to addresses that may be dialled (E5, E6)."""

import socket
import threading
from collections.abc import Sequence
from ipaddress import ip_network
from typing import Any, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor as installed
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.domain.addresses import Addresses, AddressRefusedError
from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.name_queue import (
    MEMORY_SECONDS,
    PER_DOMAIN,
    PER_REQUESTER,
    SLOW,
    SLOW_PER_DOMAIN,
    SLOW_SECONDS,
    THREADS,
    registered_domain,
)
from reviewsd.websub.outbound.resolver import MAX_ADDRESSES, NotResolvedError, Resolver, SystemNames

reactor = cast("Any", installed)

PUBLIC = ["93.184.216.34", "2606:2800:21f:cb07::1"]
DEADLINE = 5.0


@implementer(IHostnameResolver)
class Pending:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._receivers: dict[str, IResolutionReceiver] = {}

    def resolveHostName(
        self, receiver: IResolutionReceiver, host: str, *_: object
    ) -> IHostResolution:
        self.asked.append(host)
        self._receivers[host] = receiver
        return cast("IHostResolution", None)

    def answer(self, host: str, *addresses: str) -> None:
        receiver = self._receivers.pop(host)
        for each in addresses:
            address = IPv6Address if ":" in each else IPv4Address
            receiver.addressResolved(address("TCP", each, 0))
        receiver.resolutionComplete()


class Rig:
    """A Resolver whose time and names stand still."""

    def __init__(self, *networks: str) -> None:
        self.clock = Clock()
        self.names = Pending()
        opened = [ip_network(each) for each in networks]
        self.resolver = Resolver(self.clock, self.names, Addresses(opened), DEADLINE)

    def ask(self, host: str, requester: str = "") -> Deferred[Sequence[str]]:
        callback = Callback(host, 443, "/")
        return Deferred.fromCoroutine(self.resolver.addresses(callback, requester))

    def hang(self, *hosts: str, requester: str = "") -> int:
        """Ask for names that nobody answers for; returns how many of these have a thread."""
        for host in hosts:
            self.ask(host, requester).addErrback(lambda failure: failure.trap(NotResolvedError))
        return len(set(hosts) & set(self.names.asked))

    def resolve(self, host: str, *answers: str) -> Sequence[str]:
        """Ask and answer."""
        asked = self.ask(host)
        self.names.answer(host, *answers)
        return now(asked)


def now(deferred: Deferred[Sequence[str]]) -> Sequence[str]:
    """The result that is there already."""
    results: list[Sequence[str]] = []
    failures: list[Failure] = []
    deferred.addCallbacks(results.append, failures.append)
    if failures:
        failures[0].raiseException()
    return results[0]


# What is passed on --------------------------------------------------------------------------------


def test_public_addresses_are_passed_on_in_their_order() -> None:
    assert PUBLIC == Rig().resolve("a.example.com", *PUBLIC)


def test_at_most_four_are_passed_on() -> None:
    many = [f"93.184.216.{last}" for last in range(250)]
    assert many[:MAX_ADDRESSES] == Rig().resolve("a.example.com", *many)


@pytest.mark.parametrize(
    "refused", ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1"]
)
def test_one_refused_address_refuses_the_name(refused: str) -> None:
    with pytest.raises(AddressRefusedError):
        Rig().resolve("a.example.com", *PUBLIC, refused)


def test_all_answers_are_judged_not_only_those_passed_on() -> None:
    many = [f"93.184.216.{last}" for last in range(250)] * 4
    with pytest.raises(AddressRefusedError):
        Rig().resolve("a.example.com", *many, "169.254.169.254")


def test_of_a_local_name_the_opened_addresses_are_passed_on() -> None:
    rig = Rig("127.0.0.0/8")
    assert ["127.0.0.1"] == rig.resolve("localhost", "::1", "127.0.0.1")


def test_a_name_without_addresses_leads_nowhere() -> None:
    with pytest.raises(NotResolvedError, match="no address"):
        Rig().resolve("a.example.com")


def test_a_literal_needs_no_look_up_but_the_same_check() -> None:
    rig = Rig("127.0.0.0/8")
    assert ["127.0.0.1"] == now(rig.ask("127.0.0.1"))
    with pytest.raises(AddressRefusedError):
        now(rig.ask("10.0.0.1"))
    assert [] == rig.names.asked


# When and how often -------------------------------------------------------------------------------


def test_nothing_is_kept() -> None:
    """An answer may change from one connection to the next, and is judged anew."""
    rig = Rig()
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)
    with pytest.raises(AddressRefusedError):
        rig.resolve("a.example.com", "127.0.0.1")
    assert 2 == len(rig.names.asked)


def test_askers_at_the_same_time_share_a_look_up() -> None:
    rig = Rig()
    asked = [rig.ask("a.example.com") for _ in range(50)]
    rig.names.answer("a.example.com", *PUBLIC)
    assert [PUBLIC] * 50 == [now(each) for each in asked]
    assert ["a.example.com"] == rig.names.asked


def test_a_look_up_that_takes_too_long_is_given_up() -> None:
    rig = Rig()
    asked = rig.ask("a.example.com")
    rig.clock.advance(DEADLINE)
    with pytest.raises(NotResolvedError, match="within 5 s"):
        now(asked)
    assert [] == rig.clock.getDelayedCalls()


def test_a_name_that_hangs_holds_one_thread() -> None:
    rig = Rig()
    first = rig.ask("a.example.com")
    rig.clock.advance(DEADLINE)
    with pytest.raises(NotResolvedError):
        now(first)
    with pytest.raises(NotResolvedError, match="not answered yet"):
        now(rig.ask("a.example.com"))
    assert ["a.example.com"] == rig.names.asked

    rig.names.answer("a.example.com", *PUBLIC)  # too late for those, but its thread is back
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)


def test_so_many_look_ups_run_at_once_and_the_others_wait() -> None:
    """What waits for a thread does not use up its time (E6)."""
    rig = Rig()
    stuck = [rig.ask(f"{each}.example.com") for each in range(PER_DOMAIN)]
    good = rig.ask("good.example.com")
    assert PER_DOMAIN == len(rig.names.asked)

    rig.clock.advance(DEADLINE)
    for each in stuck:
        with pytest.raises(NotResolvedError):
            now(each)
    assert "good.example.com" not in rig.names.asked
    rig.names.answer("3.example.com")  # a thread comes back
    rig.clock.advance(DEADLINE - 1)
    rig.names.answer("good.example.com", *PUBLIC)
    assert PUBLIC == now(good)


def cancel(asked: Deferred[Sequence[str]]) -> None:
    asked.cancel()
    with pytest.raises(CancelledError):
        now(asked)


def test_one_asker_may_leave_the_others() -> None:
    rig = Rig()
    leaving, staying = rig.ask("a.example.com"), rig.ask("a.example.com")
    cancel(leaving)
    rig.names.answer("a.example.com", *PUBLIC)
    assert PUBLIC == now(staying)


def test_the_last_who_leaves_leaves_no_timer() -> None:
    rig = Rig()
    cancel(rig.ask("a.example.com"))
    assert [] == rig.clock.getDelayedCalls()
    rig.names.answer("a.example.com", *PUBLIC)
    assert PUBLIC == rig.resolve("a.example.com", *PUBLIC)


def test_who_leaves_the_queue_is_never_looked_up() -> None:
    rig = Rig()
    for each in range(PER_DOMAIN):
        rig.ask(f"{each}.example.com")
    cancel(rig.ask("good.example.com"))
    rig.names.answer("3.example.com", *PUBLIC)
    assert "good.example.com" not in rig.names.asked


# Whose turn it is ---------------------------------------------------------------------------------

ATTACKER, OTHER = "203.0.113.7/32", "198.51.100.7/32"
DOMAINS = [f"a.silent{number}.com" for number in range(200)]


def names_of(domain: str, count: int = 200) -> list[str]:
    return [f"a{number}.{domain}" for number in range(count)]


@pytest.mark.parametrize("silent", [names_of("silent.com"), DOMAINS], ids=["one", "many"])
def test_names_that_hang_keep_a_thread_from_nobody_else(silent: list[str]) -> None:
    """Names of one registered domain, or of as many as there are names."""
    rig = Rig()
    rig.hang(*silent)
    assert PUBLIC == rig.resolve("good.example.com", *PUBLIC)


def test_a_registered_domain_has_a_few_threads() -> None:
    rig = Rig()
    assert PER_DOMAIN == rig.hang(*names_of("silent.co.uk"))
    assert PER_DOMAIN == rig.hang(*names_of("silent.com"))
    assert PUBLIC == rig.resolve("good.co.uk", *PUBLIC)


def test_a_requester_has_a_few_threads() -> None:
    rig = Rig()
    assert PER_REQUESTER == rig.hang(*DOMAINS, requester=ATTACKER)
    asked = rig.ask("good.example.com", OTHER)
    rig.names.answer("good.example.com", *PUBLIC)
    assert PUBLIC == now(asked)
    rig.names.answer(DOMAINS[0])
    assert DOMAINS[PER_REQUESTER] in rig.names.asked
    assert DOMAINS[PER_REQUESTER + 1] not in rig.names.asked


def test_nobody_can_keep_a_name_from_others_by_asking_for_it() -> None:
    rig = Rig()
    rig.hang(*DOMAINS, requester=ATTACKER)
    waiting = rig.ask("good.example.com", ATTACKER)
    assert "good.example.com" not in rig.names.asked
    asked = rig.ask("good.example.com", OTHER)
    rig.names.answer("good.example.com", *PUBLIC)
    assert [PUBLIC, PUBLIC] == [now(asked), now(waiting)]


def test_domains_take_turns_while_there_are_too_few_threads() -> None:
    rig = Rig()
    for number in range(THREADS // PER_DOMAIN):
        assert PER_DOMAIN == rig.hang(*names_of(f"silent{number}.com"))
    late = ["a.late.com", "b.late.com", "a.later.com"]
    assert 0 == rig.hang(*late)
    for number in range(3):
        rig.names.answer(f"a{number}.silent0.com")

    order = [name for name in rig.names.asked if name in late or "silent0" in name]
    assert ["a8.silent0.com", "a.late.com", "a.later.com"] == order[PER_DOMAIN:]


def slow(rig: Rig, *names: str) -> None:
    """Look these up; all of them take too long."""
    for name in names:
        rig.hang(name)
        rig.clock.advance(SLOW_SECONDS + 0.1)
        rig.names.answer(name)
    rig.names.asked.clear()


def test_a_name_that_was_slow_has_fewer_threads() -> None:
    rig = Rig()
    known = names_of("silent.com", SLOW_PER_DOMAIN + 1) + DOMAINS[:SLOW]
    slow(rig, *known)
    assert SLOW_PER_DOMAIN == rig.hang(*known[: SLOW_PER_DOMAIN + 1])
    rig.hang(*DOMAINS[:SLOW])
    assert SLOW == len(rig.names.asked)
    assert PUBLIC == rig.resolve("good.silent.com", *PUBLIC)


def test_a_name_that_was_slow_waits_until_no_other_does() -> None:
    rig = Rig()
    slow(rig, "slow.com")
    for number in range(THREADS // PER_DOMAIN):
        rig.hang(*names_of(f"silent{number}.com", PER_DOMAIN))
    assert 0 == rig.hang("slow.com", "good.com")
    rig.names.answer("a0.silent0.com")
    assert ["good.com"] == rig.names.asked[THREADS:]
    rig.names.answer("a1.silent0.com")
    assert ["good.com", "slow.com"] == rig.names.asked[THREADS:]


@pytest.mark.parametrize("forgiven", ["by time", "by a quick answer"])
def test_that_a_name_was_slow_is_forgotten(forgiven: str) -> None:
    rig = Rig()
    known = DOMAINS[: SLOW + 1]
    slow(rig, *known)
    if forgiven == "by time":
        rig.clock.advance(MEMORY_SECONDS)
    else:
        for name in known:
            rig.resolve(name, *PUBLIC)
        rig.names.asked.clear()
    assert SLOW + 1 == rig.hang(*known)


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
def test_what_somebody_has_registered(host: str, domain: str) -> None:
    assert domain == registered_domain(host)


# The system's resolver ----------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_system_is_asked_in_threads_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, threading.Thread]] = []

    def getaddrinfo(host: str, *_: object, **__: object) -> list[Any]:
        asked.append((host, threading.current_thread()))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (PUBLIC[0], 0))]

    names = SystemNames(reactor)
    monkeypatch.setattr(names._names, "_getaddrinfo", getaddrinfo)
    resolver = Resolver(reactor, names, Addresses(), DEADLINE)
    try:
        assert PUBLIC[:1] == await resolver.addresses(Callback("a.example.com", 443, "/"))
    finally:
        await names.stop()
    [(host, thread)] = asked
    assert "a.example.com" == host
    assert "dns" in thread.name
    thread.join(5)
    assert not thread.is_alive()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_end_waits_for_no_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """O4: DNS may take longer than a stop may."""
    began: Deferred[threading.Thread] = Deferred()
    answered = threading.Event()

    def getaddrinfo(*_: object) -> list[Any]:
        reactor.callFromThread(began.callback, threading.current_thread())
        answered.wait()
        return []

    names = SystemNames(reactor)
    monkeypatch.setattr(names._names, "_getaddrinfo", getaddrinfo)
    resolver = Resolver(reactor, names, Addresses(), DEADLINE)
    asked = Deferred.fromCoroutine(resolver.addresses(Callback("a.example.com", 443, "/")))
    thread = await began
    try:
        await names.stop()
        assert thread.is_alive()
        assert thread.daemon
    finally:
        answered.set()
    with pytest.raises(NotResolvedError, match="no address"):
        await asked
    thread.join(5)
    assert not thread.is_alive()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_system_knows_localhost() -> None:
    names = SystemNames(reactor)
    opened = Addresses([ip_network("127.0.0.0/8"), ip_network("::1/128")])
    resolver = Resolver(reactor, names, opened, DEADLINE)
    try:
        assert "127.0.0.1" in await resolver.addresses(Callback("localhost", 443, "/"))
    finally:
        await names.stop()
