"""One POST to the server of a model: bounded in time and size, over verified TLS, never redirected.

Standard library: ``http.client`` follows no redirect and reads no proxy of the environment.
"""

import contextlib
import http.client
import io
import ipaddress
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from reviewsctl.labelling.endpoint import Endpoint
from reviewsctl.labelling.errors import ModelError, TooLongError, UnansweredError, UnreachedError

MAX_BODY: Final = 4 * 1024 * 1024  # bytes of an answer; twenty reviews take a hundredth of it
_PIECE: Final = 65_536  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer."""

    status: int
    retry_after: str | None
    body: bytes


def post(
    endpoint: Endpoint, path: str, headers: Mapping[str, str], body: bytes, *, seconds: float
) -> Response:
    """The answer to a request.

    Args:
        endpoint: Where to.
        path: Below the endpoint's.
        headers: Beside those of every request.
        body: JSON.
        seconds: For all of it, from the first byte sent to the last one read.

    Raises:
        UnansweredError: It did not come, or not whole; UnreachedError where it was not sent.
        TooLongError: It is longer than ``MAX_BODY``.
        ModelError: The certificate is not that of the host, or "localhost" is not this machine.
    """
    deadline = time.monotonic() + seconds
    connection = http.client.HTTPConnection(endpoint.host, endpoint.port)
    fields = {"Host": endpoint.authority, "Content-Type": "application/json", **headers}
    with _faults(seconds), _connected(endpoint, seconds) as raw:
        connection.sock = cast("socket.socket", _Socket(raw, deadline))
        connection.request("POST", endpoint.path + path, body, fields)
        response = connection.getresponse()
        return Response(
            status=response.status,
            retry_after=response.getheader("Retry-After"),
            body=_body(response),
        )


def _body(response: http.client.HTTPResponse) -> bytes:
    pieces = io.BytesIO()
    while piece := response.read(_PIECE):
        pieces.write(piece)
        if pieces.tell() > MAX_BODY:
            raise TooLongError(f"more than {MAX_BODY:,} bytes")
    if response.length:  # http.client takes an end before it for the end
        raise UnansweredError("the connection was cut in the middle of the answer")
    return pieces.getvalue()


@contextlib.contextmanager
def _connected(endpoint: Endpoint, seconds: float) -> Iterator[socket.socket]:
    with contextlib.ExitStack() as stack:
        try:
            plain = socket.create_connection((endpoint.host, endpoint.port), seconds)
        except OSError as fault:
            raise UnreachedError(f"no connection ({fault.strerror or fault})") from fault
        stack.enter_context(plain)
        peer = ipaddress.ip_address(plain.getpeername()[0].partition("%")[0])
        if endpoint.loopback and not peer.is_loopback:
            raise ModelError(f"{endpoint.host} is {peer}, which is not this machine")
        if not endpoint.tls:
            yield plain
            return
        context = ssl.create_default_context()
        yield stack.enter_context(context.wrap_socket(plain, server_hostname=endpoint.host))


@contextlib.contextmanager
def _faults(seconds: float) -> Iterator[None]:
    try:
        yield
    except ssl.SSLCertVerificationError as fault:
        raise ModelError(
            f"the server's certificate is not valid: {fault.verify_message}",
            "Certificates are always verified; that of an own authority is trusted with "
            "SSL_CERT_FILE=PATH.",
        ) from fault
    except TimeoutError as fault:
        raise UnansweredError(f"no answer within {seconds:g} s") from fault
    except OSError as fault:  # RemoteDisconnected and faults of TLS are some too
        raise UnansweredError(f"the connection broke ({fault.strerror or fault})") from fault
    except http.client.HTTPException as fault:
        raise UnansweredError(f"the answer broke off, or is not HTTP ({fault!r:.100})") from fault


class _Socket:
    """As much of a socket as ``http.client`` uses, with one deadline for all of it."""

    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self._raw = raw
        self._deadline = deadline

    def sendall(self, content: bytes) -> None:
        """Send all of it."""
        self._raw.settimeout(_left(self._deadline))
        self._raw.sendall(content)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What is read from it."""
        return io.BufferedReader(_Reader(self._raw, self._deadline))

    def close(self) -> None:
        """The socket is closed by who has opened it."""


class _Reader(io.RawIOBase):
    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self._raw = raw
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        self._raw.settimeout(_left(self._deadline))
        return self._raw.recv_into(cast("bytearray", buffer))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:  # 0 would mean: do not wait at all, and is another error
        raise TimeoutError
    return left
