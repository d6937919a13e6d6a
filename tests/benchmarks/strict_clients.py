"""Clients that keep RFC 9112 to the letter, and count what a server owes them.

Each is a thread with one connection. ``Connection: close`` is honored. Before a request on a kept
connection it looks whether the server has closed that; if so it opens another, which is no failure
(RFC 9112 9.5). A request that has been sent is owed a whole answer: an end of the connection instead,
even before the first byte of it, is a failure, though a browser would ask again.
"""

import random
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Self

_PATIENCE = 30.0  # seconds for one answer
_AGAIN = 0.02  # seconds until the next attempt after a failure
_PAUSE = 0.05  # seconds, the longest between two requests


class Kind(Enum):
    """The way that a client uses its connection."""

    BUSY = "busy"
    """The next request follows the answer."""
    PAUSING = "pausing"
    """After a moment."""
    NEW = "new"
    """A connection for each request, which says so."""


class UnansweredError(Exception):
    """A request was not answered as it should be."""


@dataclass(slots=True)
class Tally:
    """The results of some requests."""

    answered: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """Failures by their kind."""
    announced: int = 0
    """Kept connections that ended with an answer that said so."""
    closed: int = 0
    """Connections that were closed before a request."""
    longest: float = 0.0
    """Seconds from the attempt to connect or send until the whole answer."""

    def add(self, tally: "Tally") -> None:
        """Count another's too."""
        self.answered += tally.answered
        self.failures += tally.failures
        self.announced += tally.announced
        self.closed += tally.closed
        self.longest = max(self.longest, tally.longest)


class Clients:
    """Concurrent clients; they run while the context is entered.

    Args:
        port: On loopback.
        path: What they ask for.
        body: What they must get.
        kinds: One client for each.
    """

    def __init__(self, port: int, path: str, body: bytes, kinds: Sequence[Kind]) -> None:
        self._stopping = threading.Event()
        self._clients = [_Client(port, path, body, kind, self._stopping.is_set) for kind in kinds]
        self._threads = [threading.Thread(target=client.run) for client in self._clients]

    def take(self) -> dict[Kind, Tally]:
        """Return and reset the tallies of all clients, by kind."""
        tallies = {kind: Tally() for kind in Kind}
        for client in self._clients:
            tally, client.tally = client.tally, Tally()
            tallies[client.kind].add(tally)
        return tallies

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()


class _Client:
    def __init__(
        self, port: int, path: str, body: bytes, kind: Kind, stopped: Callable[[], bool]
    ) -> None:
        self.kind = kind
        self.tally = Tally()
        self._address = ("127.0.0.1", port)
        self._body = body
        self._stopped = stopped
        self._connection: socket.socket | None = None
        lines = [f"GET {path} HTTP/1.1", f"Host: localhost:{port}"]
        lines += ["Connection: close"] * (kind is Kind.NEW)
        self._request = "\r\n".join((*lines, "", "")).encode()

    def run(self) -> None:
        """Send requests until it is stopped."""
        while not self._stopped():
            began = time.monotonic()
            try:
                keep = self._exchange()
            except UnansweredError as error:
                self.tally.failures[str(error)] += 1
                keep = False
                time.sleep(_AGAIN)
            else:
                self.tally.answered += 1
            self.tally.longest = max(self.tally.longest, time.monotonic() - began)
            if not keep:
                self._drop()
            if self.kind is Kind.PAUSING:
                time.sleep(random.uniform(0, _PAUSE))
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self) -> bool:
        """Make one request; return whether the connection is kept."""
        if self._connection is not None and _ended(self._connection):
            self.tally.closed += 1
            self._drop()
        which = "kept" if self._connection is not None else "new"
        if self._connection is None:
            try:
                self._connection = socket.create_connection(self._address, _PATIENCE)
            except OSError as error:
                raise UnansweredError(f"connecting: {_name(error)}") from None
        try:
            self._connection.sendall(self._request)
        except OSError as error:
            raise UnansweredError(f"{which} connection, sending: {_name(error)}") from None
        received = bytearray()
        end = size = 0
        while not end or len(received) < size:
            try:
                piece = self._connection.recv(1 << 20)
            except OSError as error:
                piece, how = b"", _name(error)
            else:
                how = "closed"
            if not piece:
                progress = "in the answer" if received else "without a byte"
                raise UnansweredError(f"{which} connection, {progress}: {how}")
            received += piece
            if not end and (at := received.find(b"\r\n\r\n")) >= 0:
                end = at + 4
                size = end + _length(bytes(received[:end]).lower())
        return self._checked(received, end, size)

    def _checked(self, received: bytearray, end: int, size: int) -> bool:
        head = bytes(received[:end]).lower()
        if not head.startswith(b"http/1.1 200 "):
            raise UnansweredError(f"status {head[9:12].decode()}")
        if len(received) > size or received[end:] != self._body:
            raise UnansweredError("another body")
        announced = b"\r\nconnection: close\r\n" in head
        self.tally.announced += announced and self.kind is not Kind.NEW
        return not announced


def _ended(connection: socket.socket) -> bool:
    """Whether the server has closed a connection."""
    if not select.select((connection,), (), (), 0)[0]:
        return False
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def _length(head: bytes) -> int:
    at = head.index(b"\r\ncontent-length:") + 17
    return int(head[at:].split(b"\r\n", 1)[0])


def _name(error: OSError) -> str:
    return type(error).__name__
