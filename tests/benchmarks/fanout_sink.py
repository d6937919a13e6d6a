"""All the subscribers of the fan-out benchmark, in a process of their own.

    python -m tests.benchmarks.fanout_sink CERTIFICATES SHARED [--close]

One port on all of 127.0.0.0/8, TLS 1.3 with session tickets, HTTP/1.1, a certificate for each
address: one for a hundred would be long to read. It has to need less CPU than
the sender, so there is no event loop's protocol stack: OpenSSL reads and writes the sockets
itself, and epoll says which. The port is printed; what has come is counted in SHARED (``Counts``),
where ``fanout`` reads it without a question.
"""

import argparse
import contextlib
import mmap
import re
import socket
import ssl
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from select import EPOLLIN, EPOLLOUT, epoll
from typing import Self

SEEDED = "/s/"
"""The beginning of the path of each subscriber's callback; a number follows."""

_BACKLOG = 4096
_MOST = 1 << 20  # numbers of subscribers
_READ = 1 << 16  # bytes; OpenSSL gives one record at once, at most 16 kB
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WAIT = 0.5  # seconds of epoll's, at most

Layout = struct.Struct("<QQQdd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The requests and connections that have been received."""

    deliveries: int = 0
    distinct: int = 0
    """Subscribers that have had at least one."""
    handshakes: int = 0
    first: float = 0
    """``time.monotonic`` at the first delivery; the clock is the same in each process."""
    last: float = 0

    @classmethod
    def read(cls, shared: mmap.mmap) -> Self:
        """Read the counts of the sink."""
        names = cls.__slots__
        return cls(**dict(zip(names, Layout.unpack_from(shared), strict=True)))


def share(path: Path) -> mmap.mmap:
    """The memory in which the sink counts; the file is made if there is none."""
    with path.open("a+b") as file:
        file.truncate(mmap.PAGESIZE)
        return mmap.mmap(file.fileno(), mmap.PAGESIZE)


class _Subscriber:
    """One connection."""

    __slots__ = ("end", "received", "shaken", "socket")

    def __init__(self, connected: ssl.SSLSocket) -> None:
        self.socket = connected
        self.shaken = False
        self.begin()

    def begin(self) -> None:
        """Expect another request."""
        self.received = bytearray()
        self.end = 0  # of the request within ``received``, once it is known


class Sink:
    """Takes everything and counts it.

    Args:
        certificates: Directory of PEM files with their keys, ``127.0.0.1.pem`` for that address.
        shared: Where it counts.
        close: Whether each answer ends its connection.
    """

    def __init__(self, certificates: Path, shared: mmap.mmap, *, close: bool) -> None:
        self._certificates = certificates
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._shared = shared
        self._close = close
        self._listener = socket.create_server(("0.0.0.0", 0), backlog=_BACKLOG)
        self._listener.setblocking(False)
        self._epoll = epoll()
        self._epoll.register(self._listener, EPOLLIN)
        self._open: dict[int, _Subscriber] = {}
        self._closing: dict[int, socket.socket] = {}
        self._buffer = memoryview(bytearray(_READ))
        self._delivered = bytearray(_MOST)
        self._deliveries = self._distinct = self._handshakes = 0
        self._first = self._last = 0.0
        connection = b"Connection: close\r\n" if close else b""
        self._response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%b\r\n" % connection

    @property
    def port(self) -> int:
        """The listening port."""
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Serve until killed."""
        while True:
            for descriptor, _ in self._epoll.poll(_WAIT):
                subscriber = self._open.get(descriptor)
                if subscriber is not None:
                    self._guarded(subscriber)
                elif descriptor in self._closing:
                    self._end(descriptor)
                else:
                    self._accept()
            self._publish()

    def _accept(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except BlockingIOError:
                return
            raw.setblocking(False)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected = self._context(raw.getsockname()[0]).wrap_socket(
                raw, server_side=True, do_handshake_on_connect=False
            )
            self._open[connected.fileno()] = _Subscriber(connected)
            self._epoll.register(connected, EPOLLIN)

    def _context(self, address: str) -> ssl.SSLContext:
        context = self._contexts.get(address)
        if context is None:
            context = self._contexts[address] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.load_cert_chain(self._certificates / f"{address}.pem")
        return context

    def _guarded(self, subscriber: _Subscriber) -> None:
        """Go on with a connection; one that breaks is closed."""
        connected = subscriber.socket
        try:
            if not subscriber.shaken and not self._shake(subscriber):
                return
            self._read(subscriber)
        except ssl.SSLWantReadError:
            pass
        except (ssl.SSLError, OSError):
            self._drop(connected)

    def _shake(self, subscriber: _Subscriber) -> bool:
        try:
            subscriber.socket.do_handshake()
        except ssl.SSLWantWriteError:
            self._epoll.modify(subscriber.socket, EPOLLIN | EPOLLOUT)
            return False
        subscriber.shaken = True
        self._handshakes += 1
        return True

    def _read(self, subscriber: _Subscriber) -> None:
        """Read to the end of a request; raises SSLWantReadError where it is not there yet."""
        received = subscriber.received
        while not subscriber.end or len(received) < subscriber.end:
            size = subscriber.socket.recv_into(self._buffer)
            if not size:
                self._drop(subscriber.socket)
                return
            received += self._buffer[:size]
            if not subscriber.end and (head := received.find(b"\r\n\r\n")) >= 0:
                length = _LENGTH.search(received, 0, head)
                subscriber.end = head + 4 + (int(length[1]) if length else 0)
        self._count(int(received[: received.index(b"\r\n")].split()[1].rpartition(b"/")[2]))
        subscriber.begin()
        self._answer(subscriber.socket)

    def _count(self, number: int) -> None:
        self._last = time.monotonic()
        self._first = self._first or self._last
        self._deliveries += 1
        self._distinct += not self._delivered[number]
        self._delivered[number] = 1

    def _answer(self, connected: ssl.SSLSocket) -> None:
        try:
            connected.send(self._response)
            if not self._close:
                return
            with contextlib.suppress(ssl.SSLWantReadError):
                connected.unwrap()  # the farewell goes out; the peer's is not waited for
            descriptor = connected.fileno()
            connected.shutdown(socket.SHUT_WR)
        except (ssl.SSLError, OSError):
            self._drop(connected)
            return
        del self._open[descriptor]
        self._closing[descriptor] = connected

    def _end(self, descriptor: int) -> None:
        """The peer has closed, too; to close before it would send a reset."""
        connected = self._closing[descriptor]
        try:
            while connected.recv(_READ):
                pass
        except BlockingIOError:
            return
        except OSError:
            pass
        self._epoll.unregister(descriptor)
        del self._closing[descriptor]
        connected.close()

    def _drop(self, connected: ssl.SSLSocket) -> None:
        if self._open.pop(connected.fileno(), None) is not None:
            self._epoll.unregister(connected)
            connected.close()

    def _publish(self) -> None:
        Layout.pack_into(
            self._shared,
            0,
            self._deliveries,
            self._distinct,
            self._handshakes,
            self._first,
            self._last,
        )


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fanout_sink")
    parser.add_argument("certificates", type=Path)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--close", action="store_true")
    arguments = parser.parse_args()
    sink = Sink(arguments.certificates, share(arguments.shared), close=arguments.close)
    sys.stdout.write(f"{sink.port}\n")
    sys.stdout.flush()
    sink.run()


if __name__ == "__main__":
    main()
