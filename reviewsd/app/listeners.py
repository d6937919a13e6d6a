"""Opens the listening sockets of the daemon."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.tcp import Port

from reviewsd.app.public import PROXIED, factory_for
from reviewsd.config.schema import Config
from reviewsd.monitoring.metrics import CONTENT_TYPE, Metrics
from reviewsd.monitoring.metrics_site import MetricsSite
from reviewsd.runtime.sockets import inherited, listen, listen_string, stop_listening
from reviewsd.server.listener import ConnectionFactory, as_public_port


class Listeners:
    """Opens listening sockets; the stack closes them.

    Args:
        stack: The exit stack of the daemon.
        reactor: The reactor of the process.
        avoid: Called with each address and port, so that the hub does not deliver to the daemon.
    """

    def __init__(
        self, stack: AsyncExitStack, reactor: PosixReactorBase, avoid: Callable[[str, int], None]
    ) -> None:
        self._stack = stack
        self._reactor = reactor
        self._avoid = avoid

    async def listen(self, endpoint: str, site: IProtocolFactory) -> IListeningPort:
        """Listen on one endpoint.

        Raises:
            StartError: The endpoint cannot be used.
        """
        port = await listen(self._reactor, endpoint, site)
        self._stack.push_async_callback(stop_listening, port)
        return port

    async def bind_public(self, config: Config, public: ConnectionFactory) -> list[IListeningPort]:
        """Listen on all public endpoints. Connections wait in the kernel until ``accept``.

        Raises:
            StartError: An endpoint is in use.
        """
        descriptors = inherited()
        ports: list[IListeningPort] = []
        for endpoint in config.listen:
            inner = listen_string(endpoint.removeprefix(PROXIED), descriptors)
            port = await self.listen(inner, factory_for(endpoint, public))
            if type(port) is Port:
                as_public_port(port)
            port.stopReading()  # type: ignore[attr-defined]  # all ports of the reactor have this method
            ports.append(port)
            self._avoid_port(port)
        return ports

    async def open_metrics(self, config: Config, metrics: Metrics) -> None:
        """Listen on ``metrics.listen``, if it is set."""
        if config.metrics.listen is not None:
            site = MetricsSite(metrics.text, CONTENT_TYPE).site()
            self._avoid_port(
                await self.listen(listen_string(config.metrics.listen, inherited()), site)
            )

    def _avoid_port(self, port: IListeningPort) -> None:
        host = port.getHost()
        if isinstance(host, IPv4Address | IPv6Address):
            self._avoid(host.host, host.port)


def accept(ports: Sequence[IListeningPort]) -> None:
    """Accept connections on the bound public endpoints."""
    for port in ports:
        port.startReading()  # type: ignore[attr-defined]  # all ports of the reactor have this method


def address(port: IListeningPort) -> str:
    """Return the address of a port as an endpoint of Twisted, for ``reviewsctl status``."""
    host = port.getHost()
    if isinstance(host, IPv4Address):
        return f"tcp:{host.host}:{host.port}"
    if isinstance(host, IPv6Address):
        return f"tcp:[{host.host}]:{host.port}"
    return str(host)
