"""Opens the listening sockets of the daemon."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.internet.tcp import Port

from reviewsd.app.context import DaemonContext
from reviewsd.runtime import sockets
from reviewsd.runtime.sockets import ADMIN_NAME, free_path, inherited, listen_string
from reviewsd.runtime.state_dir import StartError
from reviewsd.server.listener import ConnectionFactory, as_public_port

_PROXIED = "haproxy:"  # endpoints with connections from a proxy that has the PROXY protocol (S6)


class Listeners:
    """Opens listening sockets; the stack closes them.

    Args:
        context: The daemon.
        avoid: Called with each address and port, so that the hub does not deliver to the daemon.
    """

    def __init__(self, context: DaemonContext, avoid: Callable[[str, int], None]) -> None:
        self._context = context
        self._avoid = avoid

    async def listen(self, endpoint: str, site: IProtocolFactory) -> IListeningPort:
        """Listen on one endpoint.

        Raises:
            StartError: The endpoint cannot be used.
        """
        description = listen_string(endpoint, inherited())
        port = await sockets.listen(self._context.reactor, description, site)
        self._context.stack.push_async_callback(sockets.stop_listening, port)
        host = port.getHost()
        if isinstance(host, IPv4Address | IPv6Address):
            self._avoid(host.host, host.port)
        return port

    async def bind_public(self, public: ConnectionFactory) -> list[IListeningPort]:
        """Listen on all public endpoints. Connections wait in the kernel until ``accept``.

        Raises:
            StartError: An endpoint is in use.
        """
        ports: list[IListeningPort] = []
        for endpoint in self._context.config.listen:
            proxied = endpoint.startswith(_PROXIED)
            site = ConnectionFactory(public.site, public.connections, proxied=proxied)
            port = await self.listen(endpoint.removeprefix(_PROXIED), site)
            if type(port) is Port:
                as_public_port(port)
            port.stopReading()  # type: ignore[attr-defined]  # all ports of the reactor have this method
            ports.append(port)
        return ports


def admin_endpoint(path: Path) -> str:
    """Return the endpoint of the admin socket; a stale socket file is removed (A4).

    Args:
        path: ``admin_socket``, unless systemd hands over the socket.

    Raises:
        StartError: The path cannot be used.
    """
    if ADMIN_NAME in inherited():
        return f"systemd:domain=UNIX:name={ADMIN_NAME}"
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                os.fchmod(folder, 0o755)  # beyond the umask: the admin group must get to the socket
            finally:
                os.close(folder)
    except OSError as error:
        raise StartError(f"admin_socket {path}: {error.strerror}", 1) from error
    free_path(path)
    escaped = str(path).replace("\\", "\\\\").replace(":", "\\:")
    return f"unix:{escaped}:mode=660:lockfile=0"


def accept(ports: Sequence[IListeningPort]) -> None:
    """Accept connections on the bound public endpoints."""
    for port in ports:
        port.startReading()  # type: ignore[attr-defined]  # all ports of the reactor have this method


def address(port: IListeningPort) -> str:
    """Return the address of a port as an endpoint of Twisted, for ``reviewsctl status``."""
    match port.getHost():
        case IPv4Address(host=host, port=number):
            return f"tcp:{host}:{number}"
        case IPv6Address(host=host, port=number):
            return f"tcp:[{host}]:{number}"
        case host:
            return str(host)
