"""The client network of a request, by which limits and queues are kept (S6)."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from twisted.logger import Logger

from reviewsd.domain.addresses import client_network
from reviewsd.domain.clients import client_address, is_trusted
from reviewsd.http1.request import Request


class ClientNetworks:
    """Finds the client network of a request.

    Args:
        trusted: ``server.trusted_proxies``.
    """

    _log = Logger()

    def __init__(self, trusted: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        self._trusted = trusted
        self._warned = False

    def of(self, request: Request) -> str:
        """Return an IPv4 /32 or IPv6 /64; ``clients.LOCAL`` for a UNIX socket without X-Forwarded-For."""
        host = request.client
        forwarded = request.lines(b"x-forwarded-for")
        if forwarded and not self._warned and not is_trusted(host, self._trusted):
            self._warned = True  # once: any client can send it
            self._log.warn(
                "X-Forwarded-For from {host} is ignored; server.trusted_proxies can name a proxy",
                host=host,
            )
        lines = [line.decode("latin-1") for line in forwarded]
        return client_network(client_address(host, lines, self._trusted))
