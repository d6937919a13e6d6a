"""Resolves a callback's host to addresses that may be dialed (E5, E6).

All addresses of a name are judged before any is used, and none is cached: each connection has a look-up of
its own, so an address that was public an hour ago is judged again. Only concurrent requests for a name
share a look-up.

``getaddrinfo`` cannot be cancelled. So it runs in threads of its own (``lookup_queue``), and a name that
hangs holds one thread: after the deadline further requests for it fail at once, until the thread returns.
"""

import socket
from collections.abc import Callable, Sequence
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
from reviewsd.websub.outbound.lookup_queue import THREADS, LookupQueue

MAX_ADDRESSES = 4  # of a name (E5)

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


@dataclass(slots=True)
class _Lookup:
    """A look-up, and the requests that wait for it."""

    host: str
    requests: list[Deferred[Sequence[str]]] = field(default_factory=list)
    deadline: IDelayedCall | None = None
    """None before the look-up has begun, and after its end."""
    hangs: bool = False


class Resolver:
    """Resolves callbacks.

    Args:
        clock: For the deadline.
        look_up: Resolves a name.
        addresses: Decides which addresses may be dialed.
        deadline: Seconds of one look-up, once it has a thread.
    """

    def __init__(
        self, clock: IReactorTime, look_up: LookUp, addresses: Addresses, deadline: float
    ) -> None:
        self._clock = clock
        self._look_up = look_up
        self._addresses = addresses
        self._deadline = deadline
        self._lookups: dict[str, _Lookup] = {}
        self._queue = LookupQueue()

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
        lookup = self._lookups.setdefault(host, _Lookup(host))
        self._queue.add(host, requester, self._clock.seconds())
        if lookup.hangs:
            raise NoResponseError("DNS has not answered yet")
        request: Deferred[Sequence[str]] = Deferred(lambda _: self._cancel(lookup, request))
        lookup.requests.append(request)
        self._begin()
        return request

    def _begin(self) -> None:
        while (host := self._queue.pop(self._clock.seconds())) is not None:
            lookup = self._lookups[host]
            lookup.deadline = self._clock.callLater(self._deadline, self._time_out, lookup)
            self._look_up(host).addCallback(self._finish, lookup)

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
            self._queue.remove(lookup.host)
            del self._lookups[lookup.host]

    def _finish(self, addresses: Sequence[str], lookup: _Lookup) -> None:
        """Return the addresses of a look-up to its requests."""
        self._queue.finish(lookup.host, self._clock.seconds())
        del self._lookups[lookup.host]
        if lookup.deadline is not None:
            lookup.deadline.cancel()
        self._begin()
        for request in lookup.requests:
            request.callback(addresses)
