"""A site on a port of loopback, in the reactor of the test."""

import http.client
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from twisted.internet import reactor
from twisted.internet.address import IPv4Address
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTCP
from twisted.internet.threads import deferToThread

from reviewsd.server.listener import ConnectionFactory


class Reply(NamedTuple):
    """A response to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class LoopbackSite:
    """A site that listens.

    Args:
        factory: Makes its connections.
    """

    def __init__(self, factory: ConnectionFactory) -> None:
        self.connections = factory.connections
        self._listening = cast("IReactorTCP", reactor).listenTCP(
            0,
            factory,  # type: ignore[arg-type]  # declared before factories were generic
            interface="127.0.0.1",
        )
        self.port = cast("IPv4Address", self._listening.getHost()).port

    async def close(self) -> None:
        """Stop listening, and end the connections."""
        await maybeDeferred(self._listening.stopListening)
        await self.connections.drain()

    async def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | Sequence[str]],
        body: bytes | None = None,
    ) -> Reply:
        """Send a request; a header with several values has a line for each."""
        reply: Reply = await deferToThread(self._request, method, path, headers, body)
        return reply

    def _request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | Sequence[str]],
        body: bytes | None,
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        chunked = headers.get("Transfer-Encoding") == "chunked"
        try:
            connection.putrequest(
                method, path, skip_host="Host" in headers, skip_accept_encoding=True
            )
            for name, value in headers.items():
                for line in [value] if isinstance(value, str) else value:
                    connection.putheader(name, line)
            if body is not None and not chunked:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(
                _pieces(body) if chunked and body else body, encode_chunked=chunked
            )
            response = connection.getresponse()
            lines = response.getheaders()
            assert len(lines) == len({name.lower() for name, _ in lines}), "a header came twice"
            return Reply(response.status, dict(lines), response.read())
        finally:
            connection.close()

    async def exchange(self, *pieces: bytes) -> bytes:
        """Send each piece after a response to the last; returns all bytes until the connection ends."""
        received: bytes = await deferToThread(self._exchange, pieces)
        return received

    def _exchange(self, pieces: Sequence[bytes]) -> bytes:
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            for piece in pieces:
                connection.sendall(piece)
                received += connection.recv(65_536)
            while data := connection.recv(65_536):
                received += data
        return received


def _pieces(body: bytes) -> list[bytes]:
    return [body[at : at + 4096] for at in range(0, len(body), 4096)]
