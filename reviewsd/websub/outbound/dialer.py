"""Connects to callbacks, at checked addresses only (E5, E7).

All addresses of a name are judged before any is used, and none is cached: each connection has a look-up of
its own, so an address that was public an hour ago is judged again. Only concurrent requests for a name
share a look-up.

``getaddrinfo`` cannot be cancelled, and a stranger's name servers may never respond. So it runs in threads
of its own, of which a registered domain and a client may hold a few each; further names wait. A name that
hangs holds one thread: after the deadline further requests for it fail at once, until the thread returns.

HostnameEndpoint is not used, because it resolves names itself. The endpoints here connect to the address
that was checked, and the peer of the socket is checked once more before a byte is written.
"""

import os
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint
from twisted.internet.error import (
    ConnectError,
    ConnectingCancelledError,
    NoProtocol,
    TimeoutError,  # noqa: A004 - Twisted's
)
from twisted.internet.interfaces import IAddress, IDelayedCall, IReactorFromThreads, IReactorTime
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.protocol import ClientFactory
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.domain.addresses import Addresses, AddressRefusedError, plain_address
from reviewsd.domain.callback import Callback
from reviewsd.runtime.daemon_threads import DaemonThreads
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.response_parser import NetworkFullError, NoResponseError
from reviewsd.websub.slots import Slot

_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound

MAX_ADDRESSES = 4  # of a name (E5)
CONNECT_SECONDS = 10.0  # for all addresses together, after the look-up (E12)

THREADS, PER_DOMAIN, PER_REQUESTER = 256, 8, 32
"""Concurrent look-ups: in all, of a registered domain, and for a client network (E6).

A hanging one costs 30 kB and no CPU.
"""

_MAX_REGISTRY_LABEL = 3
"""Letters of a label that belongs to a country's registry, as in co.uk and com.au."""

LookUp = Callable[[str], Deferred[Sequence[str]]]
"""Returns all addresses of a name: ``SystemNames.look_up``."""

_log = Logger()


class SystemNames:
    """The system's resolver, in threads of its own.

    Args:
        reactor: Receives the results.
    """

    def __init__(self, reactor: IReactorFromThreads) -> None:
        self._threads = DaemonThreads(reactor, "dns", THREADS)

    def look_up(self, host: str) -> Deferred[Sequence[str]]:
        """Return the addresses of a name, in the system's order."""
        return self._threads.call(_addresses_of, host)

    def stop(self) -> None:
        """End the threads; one in a look-up ends after it, or with the process (O4)."""
        self._threads.stop()


def _addresses_of(host: str) -> Sequence[str]:
    try:
        results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return [str(address[0]) for _family, _type, _protocol, _name, address in results]


def _without_addresses(failure: Failure) -> Sequence[str]:
    """Log an error of a look-up that is not DNS's, and return no addresses."""
    _log.failure("the look-up of a name failed", failure)
    return ()


def registered_domain(host: str) -> str:
    """Return the domain that was registered for a name: its last two labels, or the last three.

    This approximates the Public Suffix List. Names of a shared domain share its threads; and below a
    country's short domain (``abc.de``) each name counts as a domain.
    """
    labels = host.split(".")
    national = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= _MAX_REGISTRY_LABEL  # noqa: PLR2004
    return ".".join(labels[-3 if national else -2 :])


@dataclass(slots=True)
class _Lookup:
    """A look-up, and the requests that wait for it."""

    host: str
    requester: str
    """The client network that it counts for; empty for a delivery, or for several networks."""
    requests: list[Deferred[Sequence[str]]] = field(default_factory=list)
    has_thread: bool = False
    deadline: IDelayedCall | None = None
    """None before the look-up has begun, and after its end."""
    hangs: bool = False

    @property
    def limits(self) -> Mapping[str, int]:
        """The counts that it is part of, and the limit of each."""
        limits = {"": THREADS, registered_domain(self.host): PER_DOMAIN}
        if self.requester:
            limits[self.requester] = PER_REQUESTER
        return limits


class Resolver:
    """Resolves callbacks.

    Args:
        clock: For the deadline.
        look_up: Resolves a name.
        addresses: Decides which addresses may be dialed.
        deadline: Seconds of one look-up, once it has a thread (E12).
    """

    def __init__(
        self, clock: IReactorTime, look_up: LookUp, addresses: Addresses, deadline: float = 5.0
    ) -> None:
        self._clock = clock
        self._look_up = look_up
        self._addresses = addresses
        self._deadline = deadline
        self._lookups: dict[str, _Lookup] = {}
        self._running = Counter[str]()

    async def resolve(self, callback: Callback, requester: str = "") -> Sequence[str]:
        """Return at most four addresses, in the order to try them.

        The requester is the client network that requested the call; it is empty for a delivery.

        Raises:
            NoResponseError: The name has no address, or DNS took too long.
            AddressRefusedError: One of the addresses must not be dialed.
        """
        host = callback.host
        addresses = [host] if callback.is_literal else await self._request(host, requester)
        if not addresses:
            raise NoResponseError("the name has no address")
        return self._addresses.chosen(host, addresses)[:MAX_ADDRESSES]

    def _request(self, host: str, requester: str) -> Deferred[Sequence[str]]:
        lookup = self._lookups.setdefault(host, _Lookup(host, requester))
        if lookup.hangs:
            raise NoResponseError("DNS has not answered yet")
        if not lookup.has_thread and lookup.requester != requester:
            lookup.requester = ""  # else a client with many names could delay this one for others
        request: Deferred[Sequence[str]] = Deferred(lambda _: self._cancel(lookup, request))
        lookup.requests.append(request)
        self._begin(lookup)
        return request

    def _begin(self, lookup: _Lookup) -> None:
        """Give a look-up a thread, unless it has one or a limit is reached."""
        if lookup.has_thread:
            return
        limits = lookup.limits
        if any(self._running[key] >= limits[key] for key in limits):
            return
        lookup.has_thread = True
        self._running.update(list(limits))
        lookup.deadline = self._clock.callLater(self._deadline, self._time_out, lookup)
        self._look_up(lookup.host).addErrback(_without_addresses).addCallback(self._finish, lookup)

    def _time_out(self, lookup: _Lookup) -> None:
        lookup.deadline = None
        lookup.hangs = True
        while lookup.requests:  # one may cancel another
            request = lookup.requests.pop(0)
            request.errback(NoResponseError(f"DNS has not answered within {self._deadline:g} s"))

    def _cancel(self, lookup: _Lookup, request: Deferred[Sequence[str]]) -> None:
        lookup.requests.remove(request)
        if lookup.requests or lookup.hangs or self._lookups.get(lookup.host) is not lookup:
            return
        if lookup.deadline is not None:
            lookup.deadline.cancel()
            lookup.deadline = None
            lookup.hangs = True  # for requests that come before its thread returns
        else:
            del self._lookups[lookup.host]

    def _finish(self, addresses: Sequence[str], lookup: _Lookup) -> None:
        """Return the addresses of a look-up to its requests, and give its thread to the next."""
        del self._lookups[lookup.host]
        self._running -= Counter(list(lookup.limits))
        if lookup.deadline is not None:
            lookup.deadline.cancel()
            lookup.deadline = None
        for waiting in tuple(self._lookups.values()):
            if self._running[""] >= THREADS:
                break
            self._begin(waiting)
        while lookup.requests:  # one may cancel another
            lookup.requests.pop(0).callback(addresses)


class Dialer:
    """Opens connections to callbacks.

    Args:
        reactor: Opens the sockets, and times the attempts.
        resolver: Returns the addresses of a host.
        addresses: Checks the peer of each socket.
        own_listeners: (address, port) of the service's own listeners, with ``0.0.0.0`` or ``::``
            for all addresses of this host; added as they open.
    """

    def __init__(
        self,
        reactor: PosixReactorBase,
        resolver: Resolver,
        addresses: Addresses,
        own_listeners: AbstractSet[tuple[str, int]],
    ) -> None:
        self._reactor = reactor
        self._resolver = resolver
        self._addresses = addresses
        self._own_listeners = own_listeners

    async def dial(
        self, callback: Callback, slot: Slot, make: Callable[[str], Connection]
    ) -> Connection:
        """Try the addresses of a callback, one after the other, until a connection is open.

        Args:
            callback: The callback to connect to.
            slot: Counts for the network of each address that is tried.
            make: Returns the Connection for the open socket to an address.

        Raises:
            NoResponseError: There is no connection.
            NetworkFullError: There is none, and the network of an address was full.
        """
        try:
            addresses = await self._resolver.resolve(callback, slot.due.requester)
        except AddressRefusedError as error:
            raise NoResponseError(str(error)) from error
        if any(self.is_own(address, callback.port) for address in addresses):
            raise NoResponseError("the callback leads to this service itself")
        deadline = self._reactor.seconds() + CONNECT_SECONDS
        failure, full = NoResponseError("no connection"), False
        for index, address in enumerate(addresses):
            if not slot.try_enter_network(address):
                full = True
                continue
            seconds = (deadline - self._reactor.seconds()) / (len(addresses) - index)
            try:
                return await self._connect(address, callback.port, seconds, partial(make, address))
            except NoResponseError as error:
                failure = error
        raise NetworkFullError if full else failure

    def is_own(self, address: str, port: int) -> bool:
        """Return whether this service listens there."""
        host = str(plain_address(address))
        if (host, port) in self._own_listeners:
            return True
        wildcard = any((name, port) in self._own_listeners for name in _WILDCARDS)
        return wildcard and _is_local(host)

    async def _connect(
        self, address: str, port: int, seconds: float, make: Callable[[], Connection]
    ) -> Connection:
        host = str(plain_address(address))
        kind = TCP6ClientEndpoint if ":" in host else TCP4ClientEndpoint
        factory = _Factory(host, make, self._addresses)
        try:
            connection = await kind(self._reactor, host, port, seconds).connect(factory)
        except ConnectingCancelledError:
            raise CancelledError from None
        except NoProtocol:
            raise NoResponseError("connected to an address other than the one dialed") from None
        except TimeoutError:
            raise NoResponseError(f"no connection within {seconds:.3g} s") from None
        except ConnectError as error:
            text = f": {os.strerror(error.osError)}" if isinstance(error.osError, int) else ""
            raise NoResponseError(f"no connection{text}") from None
        assert isinstance(connection, Connection)  # noqa: S101  the factory makes no other
        return connection


class _Factory(ClientFactory[Connection]):
    """Makes a Connection if the real peer is the one that was dialed."""

    noisy = False

    def __init__(self, host: str, make: Callable[[], Connection], addresses: Addresses) -> None:
        self._host = host
        self._make = make
        self._addresses = addresses

    def buildProtocol(self, addr: IAddress | None) -> Connection | None:
        """Return None for another peer, which makes Twisted close the socket."""
        peer = str(getattr(addr, "host", ""))
        if self._addresses.refusal(peer) is not None or str(plain_address(peer)) != self._host:
            return None
        return self._make()


def _is_local(address: str) -> bool:
    """Return whether a socket can be bound to an address, which is then this host's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
