"""Resolves a callback's host to addresses that may be dialed (E5).

All addresses of a name are judged before any is used, and none is cached: each connection has a look-up of
its own, so an address that was public an hour ago is judged again. Only concurrent requests for a name
share a look-up.

``getaddrinfo`` cannot be cancelled, and a stranger's name servers may never respond. So it runs in threads of
its own, of which a registered domain and a client may hold a few each; further names wait. A name that hangs
holds one thread: after the deadline further requests for it fail at once, until the thread returns.
"""

import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Thread

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorFromThreads, IReactorTime
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.errors import NoResponseError

MAX_ADDRESSES = 4  # of a name (E5)

THREADS, PER_DOMAIN, PER_REQUESTER = 256, 8, 32
"""Concurrent look-ups: in all, of a registered domain, and for a client network (E6).

A hanging one costs 30 kB and no CPU.
"""

_MAX_REGISTRY_LABEL = 3
"""Letters of a label that belongs to a country's registry, as in co.uk and com.au."""

LookUp = Callable[[str], Deferred[Sequence[str]]]
"""Returns all addresses of a name: ``SystemNames.look_up``."""


class SystemNames:
    """The system's resolver, in threads of its own.

    Args:
        reactor: Receives the results.
    """

    def __init__(self, reactor: IReactorFromThreads) -> None:
        self._reactor = reactor
        self._threads = ThreadPool(minthreads=0, maxthreads=THREADS, name="dns")
        # Daemon threads do not delay the end of the process. Twisted only calls the "class"
        self._threads.threadFactory = partial(Thread, daemon=True)  # type: ignore[assignment]
        self._threads.start()

    def look_up(self, host: str) -> Deferred[Sequence[str]]:
        """Return the addresses of a name, in the system's order."""
        return deferToThreadPool(self._reactor, self._threads, _addresses_of, host)

    def stop(self) -> None:
        """End the threads; one in a look-up ends after it, or with the process (O4)."""
        self._threads.adjustPoolsize(maxthreads=0)  # ThreadPool.stop would wait for them


def _addresses_of(host: str) -> Sequence[str]:
    try:
        results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return [str(address[0]) for _family, _type, _protocol, _name, address in results]


def registered_domain(host: str) -> str:
    """Return the domain that was registered for a name: its last two labels, or the last three.

    This approximates the Public Suffix List. Names of a shared domain share its threads; and below a
    country's short domain (``abc.de``) each name counts as a domain.

    Args:
        host: ``Callback.host``, a name.
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

        Args:
            callback: Its host is resolved.
            requester: The client network that requested the call; empty for a delivery.

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
        self._look_up(lookup.host).addCallback(self._finish, lookup)

    def _time_out(self, lookup: _Lookup) -> None:
        lookup.deadline = None
        lookup.hangs = True
        requests, lookup.requests = lookup.requests, []
        for request in requests:
            request.errback(NoResponseError(f"DNS has not answered within {self._deadline:g} s"))

    def _cancel(self, lookup: _Lookup, request: Deferred[Sequence[str]]) -> None:
        lookup.requests.remove(request)
        if lookup.requests:
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
        for waiting in tuple(self._lookups.values()):
            if self._running[""] >= THREADS:
                break
            self._begin(waiting)
        for request in lookup.requests:
            request.callback(addresses)
