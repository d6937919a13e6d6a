"""From a callback's host to the addresses that may be dialled (E5, E6).

All answers of a name are judged before any is passed on, and nothing is kept: every connection
has its own look-up, so what was public an hour ago is judged anew. Only askers for a name whose
look-up is under way share it.

``getaddrinfo`` cannot be cancelled. So it runs in threads of its own, where slow DNS of an attacker
starves nothing else (``name_queue``), and a name that hangs holds one thread, not many: after the
deadline those who ask for it again are told at once, until its thread has come back.
"""

from collections.abc import Sequence
from functools import partial
from threading import Thread

from twisted.internet._resolver import GAIResolver
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import (
    IAddress,
    IDelayedCall,
    IHostnameResolver,
    IHostResolution,
    IReactorThreads,
    IReactorTime,
    IResolutionReceiver,
)
from twisted.python.threadpool import ThreadPool
from zope.interface import implementer

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.name_queue import THREADS, NameQueue

MAX_ADDRESSES = 4  # passed on; E5


class NotResolvedError(Exception):
    """The name leads nowhere; the text says why, for people."""


@implementer(IHostnameResolver)
class SystemNames:
    """The system's resolver in threads of its own.

    Args:
        reactor: Where results are delivered.
    """

    def __init__(self, reactor: IReactorThreads) -> None:
        self._threads = ThreadPool(minthreads=0, maxthreads=THREADS, name="dns")
        # The end of the process waits for none of them. (Twisted wants a class, but only calls it.)
        self._threads.threadFactory = partial(Thread, daemon=True)  # type: ignore[assignment]
        self._threads.start()
        self._names = GAIResolver(reactor, lambda: self._threads)

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,  # noqa: N803 - IHostnameResolver's names
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> IHostResolution:
        """See IHostnameResolver."""
        return self._names.resolveHostName(
            resolutionReceiver, hostName, portNumber, addressTypes, transportSemantics
        )

    async def stop(self) -> None:
        """End the threads; one in a look-up ends after it, or with the process (O4)."""
        self._threads.adjustPoolsize(maxthreads=0)  # ThreadPool.stop would wait for them


@implementer(IResolutionReceiver)
class _Lookup:
    """One name, on its way, and those who wait for it."""

    def __init__(self, resolver: "Resolver", host: str) -> None:
        self._resolver = resolver
        self.host = host
        self.waiting: list[Deferred[Sequence[str]]] = []
        self.deadline: IDelayedCall | None = None  # None before it has begun, and after its end
        self.hangs = False
        self._found: list[str] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:  # noqa: N803
        """See IResolutionReceiver; what began cannot be cancelled."""

    def addressResolved(self, address: IAddress) -> None:
        """See IResolutionReceiver."""
        self._found.append(address.host)  # type: ignore[attr-defined]  # IPv4Address, IPv6Address

    def resolutionComplete(self) -> None:
        """See IResolutionReceiver."""
        self._resolver.ended(self, self._found)


class Resolver:
    """Finds the addresses of callbacks.

    Args:
        clock: For the deadline.
        names: Who knows names; ``SystemNames`` in production.
        addresses: Which may be dialled.
        deadline: Seconds that one look-up may take, once it has a thread.
    """

    def __init__(
        self, clock: IReactorTime, names: IHostnameResolver, addresses: Addresses, deadline: float
    ) -> None:
        self._clock = clock
        self._names = names
        self._addresses = addresses
        self._deadline = deadline
        self._lookups: dict[str, _Lookup] = {}
        self._queue = NameQueue()

    async def addresses(self, callback: Callback, requester: str = "") -> Sequence[str]:
        """At most four addresses, in the order in which they are best tried.

        Args:
            callback: Whose host it is.
            requester: The client network that asked for the call; empty for a delivery.

        Raises:
            NotResolvedError: The name has no address, or DNS took too long.
            AddressRefusedError: One of the addresses must not be dialled (E5).
        """
        host = callback.host
        answers = [host] if callback.is_literal else await self._answers(host, requester)
        if not answers:
            raise NotResolvedError("the name has no address")
        return self._addresses.chosen(host, answers)[:MAX_ADDRESSES]

    def _answers(self, host: str, requester: str) -> Deferred[Sequence[str]]:
        """All addresses of a name."""
        lookup = self._lookups.get(host)
        if lookup is None:
            lookup = self._lookups[host] = _Lookup(self, host)
        self._queue.add(host, requester, self._clock.seconds())
        if lookup.hangs:
            raise NotResolvedError("DNS has not answered yet")
        answers: Deferred[Sequence[str]] = Deferred(lambda _: self._left(lookup, answers))
        lookup.waiting.append(answers)
        self._begin()
        return answers

    def _begin(self) -> None:
        while (host := self._queue.next_host(self._clock.seconds())) is not None:
            lookup = self._lookups[host]
            lookup.deadline = self._clock.callLater(self._deadline, self._late, lookup)
            self._names.resolveHostName(lookup, lookup.host)

    def _late(self, lookup: _Lookup) -> None:
        lookup.deadline = None
        lookup.hangs = True
        waiting, lookup.waiting = lookup.waiting, []
        for answers in waiting:
            reason = f"DNS has not answered within {self._deadline:g} s"
            answers.errback(NotResolvedError(reason))

    def _left(self, lookup: _Lookup, answers: Deferred[Sequence[str]]) -> None:
        """Somebody waits no more."""
        lookup.waiting.remove(answers)
        if lookup.waiting:
            return
        if lookup.deadline is not None:
            lookup.deadline.cancel()
            lookup.deadline = None
            lookup.hangs = True  # for those who ask while its thread is still away
        else:
            self._queue.remove(lookup.host)
            del self._lookups[lookup.host]

    def ended(self, lookup: _Lookup, found: Sequence[str]) -> None:
        """A thread has come back."""
        self._queue.ended(lookup.host, self._clock.seconds())
        del self._lookups[lookup.host]
        if lookup.deadline is not None:
            lookup.deadline.cancel()
            lookup.deadline = None
        waiting, lookup.waiting = lookup.waiting, []
        self._begin()
        for answers in waiting:
            answers.callback(found)
