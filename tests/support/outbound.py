"""The hub's way out, built to reach the subscribers of ``tests.support.callbacks``."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from itertools import count
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor as installed
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import parse_stored
from reviewsd.http1.representation import Buffer
from reviewsd.store.rows import Due
from reviewsd.websub.outbound.agent import CallbackAgent
from reviewsd.websub.outbound.client import CallbackClient, CallbackRequest
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.dialer import Dialer, LookUp, Resolver
from reviewsd.websub.outbound.response_parser import NetworkFullError, NoResponseError
from reviewsd.websub.outbound.tls import Tls
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.slots import Slot, Slots

reactor = cast("Any", installed)

USER_AGENT = b"reviewsd/0 (+https://reviews.example/; WebSub hub)"
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
LOCALHOST = {"localhost": ["127.0.0.1"]}
_ids = count()


class Names:
    """Resolves the names it is given, and counts the look-ups."""

    def __init__(self, addresses: Mapping[str, Sequence[str]] = LOCALHOST) -> None:
        self.addresses = dict(addresses)
        self.look_ups: Counter[str] = Counter()

    def look_up(self, host: str) -> Deferred[Sequence[str]]:
        self.look_ups[host] += 1
        return succeed(self.addresses.get(host, ()))


def many_slots(per_network: int = 1_000_000) -> Slots:
    """Return slots without a limit but perhaps that of a network; idle ones are never found."""
    return Slots(Clock(), 1_000_000, 1_000_000, per_network, Backoffs())


def free_slot(slots: Slots | None = None) -> Slot:
    """Return a slot for an attempt at a host of its own."""
    number = next(_ids)
    slots = slots or many_slots()
    slot = slots.try_enter(Due(id=number, host=f"h{number}.example.com", active=True))
    assert slot is not None
    slots.begin(slot)
    return slot


@dataclass(frozen=True)
class Received:
    """A response as the hub receives it."""

    status: int
    body: bytes
    retry_after: bytes | None
    address: str | None


@dataclass(frozen=True)
class Missing:
    """No response, and the address that was dialed last."""

    reason: str
    address: str | None


class Upload(Connection):
    """A Connection whose progress the test sets."""

    has_work = False

    def __init__(
        self, *, has_work: bool = False, bytes_written: int = 0, accepted: int = 0
    ) -> None:
        self.has_work = has_work
        self.bytes_written = bytes_written
        self.accepted = accepted

    def bytes_accepted(self) -> int:
        return self.accepted


FULL = "the network is full"
Outcome = Received | Missing | str
"""The last is FULL."""


class Sender:
    """Sends requests through treq and the agent."""

    def __init__(self, agent: CallbackAgent, clock: Any) -> None:
        self.agent = agent
        self._client = CallbackClient(agent, clock)

    async def verify(
        self, url: str, *, seconds: float = 5, slots: Slots | None = None, slot: Slot | None = None
    ) -> Outcome:
        """Send a GET."""
        return await self._send("GET", url, b"", b"", seconds, slots or many_slots(), slot)

    async def deliver(
        self,
        url: str,
        body: Buffer = b"{}",
        *,
        headers: bytes = b"",
        seconds: float = 5,
        slots: Slots | None = None,
        slot: Slot | None = None,
    ) -> Outcome:
        """Send a POST."""
        headers = headers or (
            b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
        )
        return await self._send("POST", url, headers, body, seconds, slots or many_slots(), slot)

    async def _send(
        self,
        method: str,
        url: str,
        headers: bytes,
        body: Buffer,
        seconds: float,
        slots: Slots,
        slot: Slot | None,
    ) -> Outcome:
        sending_slot = slot or free_slot(slots)
        try:
            request = CallbackRequest(
                method=method,
                callback=parse_stored(url),
                slot=sending_slot,
                headers=headers,
                body=body,
            )
            response = await self._client.send(request, seconds)
            content = await response.content()
        except NoResponseError as error:
            return Missing(error.reason, sending_slot.address)
        except NetworkFullError:
            return FULL
        finally:
            if slot is None:
                slots.leave(sending_slot)
        (retry_after,) = response.headers.getRawHeaders(b"Retry-After", [None])
        return Received(response.code, content, retry_after, sending_slot.address)


@asynccontextmanager
async def sending(
    ca_file: Path,
    *,
    look_up: LookUp | None = None,
    networks: Sequence[Any] = LOOPBACK,
    own_listeners: set[tuple[str, int]] | None = None,
    **limits: Any,
) -> AsyncIterator[Sender]:
    """Build a way out that trusts ``ca_file`` and may call this host; close it at the end."""
    addresses = Addresses(networks)
    agent = CallbackAgent(
        reactor,
        Dialer(
            reactor,
            Resolver(reactor, look_up or Names().look_up, addresses),
            addresses,
            set() if own_listeners is None else own_listeners,
        ),
        Tls(reactor, ca_file),
        USER_AGENT,
        **limits,
    )
    try:
        yield Sender(agent, reactor)
    finally:
        await agent.close()
