"""Kept connections to a measured server."""

import socket
from pathlib import Path

import msgspec

Work = list[bytes]


class Counts(msgspec.Struct):
    """The counts of a search answer on which both servers must agree."""

    matched: int
    returned: int


class Connection:
    """One kept connection to a server, and the CPU time of its process."""

    def __init__(self, port: int, pid: int) -> None:
        self._port = port
        self._connect()
        self._tasks = Path(f"/proc/{pid}/task")

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Head and body of the answer."""
        self.send(request)
        return self.receive()

    def send(self, request: bytes) -> None:
        """Ask, and do not wait for the answer."""
        self._socket.sendall(request)

    def receive(self) -> tuple[bytes, bytes]:
        """Head and body of an answer."""
        received = bytearray()
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._more()
        head = bytes(received[:end])
        size = 0
        if not head.startswith(b"HTTP/1.1 304"):
            lowered = head.lower()
            at = lowered.index(b"\r\ncontent-length:") + 17
            size = int(lowered[at:].split(b"\r\n", 1)[0])
        while len(received) < end + 4 + size:
            received += self._more()
        if b"\r\nconnection: close" in head.lower():  # reviewsd closes after 1,000 requests
            self._socket.close()
            self._connect()
        return head, bytes(received[end + 4 :])

    def fileno(self) -> int:
        """The socket's descriptor, to wait for answers."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def _more(self) -> bytes:
        data = self._socket.recv(1 << 20)
        assert data, "the server has closed the connection"
        return data

    def used(self) -> int:
        """Nanoseconds of CPU that the process has used, user and system, in all its threads."""
        return sum(
            int((task / "schedstat").read_text().split()[0]) for task in self._tasks.iterdir()
        )


def get(path: str, *headers: str) -> bytes:
    """A request as a browser's fetch would have it, but for the coding."""
    lines = (f"GET {path} HTTP/1.1", "Host: localhost", "Accept: */*", *headers, "", "")
    return "\r\n".join(lines).encode()
