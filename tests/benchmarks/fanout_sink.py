"""All the subscribers of the fan-out benchmark, in a process of their own.

    python -m tests.benchmarks.fanout_sink CERTIFICATE SHARED [--close]     in the peers' venv

One port on all of 127.0.0.0/8, TLS with session tickets, HTTP/1.1. The port is printed; what has come is
counted in SHARED (``Counts``), where ``fanout`` reads it without a question.
"""

import argparse
import asyncio
import mmap
import re
import ssl
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self, cast

SEEDED = "/s/"
"""The beginning of the path of each subscriber's callback; a number follows."""

_BACKLOG = 4096
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_PUBLISH_SECONDS = 0.005

Layout = struct.Struct("<QQQdd")


@dataclass(slots=True, kw_only=True)
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
        return cls(**dict(zip(cls.__slots__, Layout.unpack_from(shared), strict=True)))

    def write(self, shared: mmap.mmap) -> None:
        """Write the counts, where ``read`` finds them."""
        Layout.pack_into(shared, 0, *(getattr(self, name) for name in self.__slots__))


def share(path: Path) -> mmap.mmap:
    """The memory in which the sink counts; the file is made if there is none."""
    with path.open("a+b") as file:
        file.truncate(mmap.PAGESIZE)
        return mmap.mmap(file.fileno(), mmap.PAGESIZE)


class Connection(asyncio.Protocol):
    """Accepts each delivery, and counts it."""

    def __init__(self, counts: Counts, numbers: set[int], *, close: bool) -> None:
        self._counts = counts
        self._numbers = numbers
        self._close = close
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the handshake, which has ended."""
        self._transport = cast("asyncio.Transport", transport)
        self._counts.handshakes += 1

    def data_received(self, data: bytes) -> None:
        """Answer a request that is complete."""
        received = self._received
        received += data
        head = received.find(b"\r\n\r\n")
        length = _LENGTH.search(received, 0, head) if head >= 0 else None
        if length is None or len(received) < head + 4 + int(length[1]):
            return
        self._count(int(received[: received.index(b"\r\n")].split()[1].rpartition(b"/")[2]))
        received.clear()
        connection = b"Connection: close\r\n" if self._close else b""
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%b\r\n" % connection)
        if self._close:
            self._transport.close()

    def _count(self, number: int) -> None:
        counts = self._counts
        counts.last = time.monotonic()
        counts.first = counts.first or counts.last
        counts.deliveries += 1
        self._numbers.add(number)
        counts.distinct = len(self._numbers)


async def serve(certificate: Path, shared: mmap.mmap, *, close: bool) -> None:
    """Serve until killed."""
    counts, numbers = Counts(), set[int]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(counts, numbers, close=close),
        "0.0.0.0",
        backlog=_BACKLOG,
        ssl=context,
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    while True:
        counts.write(shared)
        await asyncio.sleep(_PUBLISH_SECONDS)


def main() -> None:
    """Serve until killed."""
    import uvloop  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415  only in the peers' venv

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fanout_sink")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--close", action="store_true")
    arguments = parser.parse_args()
    uvloop.run(serve(arguments.certificate, share(arguments.shared), close=arguments.close))


if __name__ == "__main__":
    main()
