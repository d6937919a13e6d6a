"""Connects to sources: verified TLS, and only addresses that may be dialed (sources.md 4)."""

import socket
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.error import ConnectError, DNSLookupError
from twisted.internet.interfaces import IProtocol, IProtocolFactory, IStreamClientEndpoint
from twisted.internet.ssl import optionsForClientTLS
from twisted.internet.threads import deferToThreadPool
from twisted.web.client import URI
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer

from reviewsctl.sources.faults import SourceStoppedError
from reviewsd.domain.addresses import Addresses, AddressRefusedError

CONNECT_SECONDS: Final = 10

_PRIVATE: Final = (
    "127.0.0.0/8",
    "::1/128",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
)
"""Opened by ``allow_private``; link-local and metadata addresses never are."""


@implementer(IAgentEndpointFactory)
class DialingRules:
    """Makes the endpoints of an agent.

    Args:
        reactor: Twisted's.
        allow_private: Whether private and loopback addresses may be dialed.
        trust: The roots that certificates are verified with; None for the system's.
    """

    def __init__(self, reactor: Any, *, allow_private: bool, trust: Any = None) -> None:  # noqa: ANN401  # interfaces of a reactor, which are many
        networks = [ip_network(network) for network in _PRIVATE] if allow_private else []
        self._reactor = reactor
        self._addresses = Addresses(networks)
        self._trust = trust

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:
        """Return the endpoint of an address."""
        host = uri.host.decode("ascii").strip("[]")
        endpoint = _JudgedEndpoint(self._reactor, self._addresses, host, uri.port)
        if uri.scheme == b"http":
            return endpoint
        options = (
            optionsForClientTLS(host)
            if self._trust is None
            else optionsForClientTLS(host, trustRoot=self._trust)
        )
        return wrapClientTLS(options, endpoint)


@implementer(IStreamClientEndpoint)
@dataclass(frozen=True, slots=True, eq=False)
class _JudgedEndpoint:
    """An endpoint that looks its host up, judges the addresses, and dials one after the other."""

    reactor: Any
    addresses: Addresses
    host: str
    port: int

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[IProtocol]:  # noqa: N803  # Twisted's name
        """Connect."""
        return ensureDeferred(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        failure: ConnectError | None = None
        for address in await self._judged():
            kind = TCP6ClientEndpoint if ":" in address else TCP4ClientEndpoint
            endpoint = kind(self.reactor, address, self.port, timeout=CONNECT_SECONDS)
            try:
                return await endpoint.connect(factory)
            except ConnectError as error:
                failure = error
        raise failure or DNSLookupError(self.host)

    async def _judged(self) -> list[str]:
        try:
            answers = await deferToThreadPool(
                self.reactor,
                self.reactor.getThreadPool(),
                socket.getaddrinfo,
                self.host,
                self.port,
                type=socket.SOCK_STREAM,
            )
        except OSError as error:
            raise DNSLookupError(self.host) from error
        names = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
        try:
            return list(self.addresses.chosen(self.host, names))
        except AddressRefusedError as refusal:
            raise SourceStoppedError(
                f"{self.host} leads to {refusal.address}, which is not dialed ({refusal.reason})",
                "If that is meant, a source of type url may say allow_private: true.",
            ) from refusal
