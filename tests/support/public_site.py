"""Requests to a public name by TLS, at a port of this machine where a proxy listens."""

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from reviewsd.http1 import urls
from tests.support.daemon import Answer


class PublicSite:
    """The service as the public sees it."""

    def __init__(
        self, name: str, port: int, context: ssl.SSLContext, address: str = "127.0.0.1"
    ) -> None:
        self._name, self._context = name, context
        self.address = (address, port)
        """Where the proxy listens."""

    def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        client: str = "127.0.0.2",
    ) -> Answer:
        """One request from an address of this machine."""
        with self._response(method, path, headers, body, client) as response:
            return Answer(response.status, response.headers, response.read())

    def first_bytes(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The first bytes of the response to a POST, which may never end."""
        with self._response("POST", path, headers, body, "127.0.0.2") as response:
            return Answer(response.status, response.headers, response.read1())

    @contextmanager
    def _response(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None,
        body: bytes | None,
        client: str,
    ) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self._name, timeout=60)
        plain = socket.create_connection(self.address, timeout=20, source_address=(client, 0))
        try:
            connection.sock = self._context.wrap_socket(plain, server_hostname=self._name)
            connection.request(method, path, body, dict(headers or {}))
            yield connection.getresponse()
        finally:
            plain.close()
            connection.close()

    def serves(self, client: str = "127.0.0.2") -> bool:
        """Whether the daemon behind it answers a client with this address."""
        with suppress(OSError):
            return self.request("GET", urls.HEALTH, client=client).status == 200
        return False
