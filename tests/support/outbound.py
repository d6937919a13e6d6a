"""The hub's way out, built to reach the subscribers of ``tests.support.callbacks``."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_network
from itertools import count
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor as installed
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IResolutionReceiver,
)
from twisted.internet.task import Clock
from zope.interface import implementer

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import Callback, rebuilt
from reviewsd.store.intents import Due
from reviewsd.websub.outbound.client import CallbackClient
from reviewsd.websub.outbound.dialer import Dialer
from reviewsd.websub.outbound.outcomes import Push
from reviewsd.websub.outbound.requests import AttemptLimits, Outbound
from reviewsd.websub.outbound.resolver import Resolver
from reviewsd.websub.outbound.tls import Tls
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.slots import Slot, Slots

reactor = cast("Any", installed)

USER_AGENT = b"reviewsd/0 (+https://reviews.example/; WebSub hub)"
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
LOCALHOST = {"localhost": ["127.0.0.1"]}


@implementer(IHostnameResolver)
class Names:
    """Knows the names that it is told, and counts who asks."""

    def __init__(self, known: Mapping[str, Sequence[str]] = LOCALHOST) -> None:
        self.known = dict(known)
        self.asked: Counter[str] = Counter()

    def resolveHostName(
        self,
        receiver: IResolutionReceiver,
        host: str,
        port: int = 0,
        _types: Sequence[type[IAddress]] | None = None,
        _semantics: str = "TCP",
    ) -> IHostResolution:
        self.asked[host] += 1
        for each in self.known.get(host, ()):
            address = IPv6Address if ":" in each else IPv4Address
            receiver.addressResolved(address("TCP", each, port))
        receiver.resolutionComplete()
        return cast("IHostResolution", None)


def many_slots(per_network: int = 1_000_000) -> Slots:
    """Slots without a limit, or with that of a network; their idle ones are never found."""
    return Slots(Clock(), 1_000_000, 1_000_000, per_network, Backoffs())


_ids = count()


def free_slot(slots: Slots | None = None) -> Slot:
    """A slot for an attempt at a host of its own."""
    number = next(_ids)
    slots = slots or many_slots()
    slot = slots.try_enter(Due(id=number, host=f"h{number}.example.com", active=True))
    assert slot is not None
    slots.begin(slot)
    return slot


def callback(url: str) -> Callback:
    """As subscribed, without the policy."""
    return rebuilt(url)


def push(body: bytes = b"{}", signature: bytes | None = None) -> Push:
    """A delivery of something."""
    headers = b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
    return Push(headers, (body,), signature)


@asynccontextmanager
async def calling(
    ca_file: Path,
    *,
    names: IHostnameResolver | None = None,
    networks: Sequence[Any] = LOOPBACK,
    own_listeners: set[tuple[str, int]] | None = None,
    dns_seconds: float = 5.0,
    limits: AttemptLimits | None = None,
) -> AsyncIterator[CallbackClient]:
    """A client that trusts ``ca_file`` and may call this host; afterwards nothing of it is left."""
    addresses = Addresses(networks)
    outbound = Outbound(
        reactor,
        Resolver(reactor, names or Names(), addresses, dns_seconds),
        Dialer(reactor, addresses, set() if own_listeners is None else own_listeners),
        Tls(reactor, ca_file),
        limits or AttemptLimits(),
    )
    client = CallbackClient(reactor, outbound, USER_AGENT)
    try:
        yield client
    finally:
        await client.close()
