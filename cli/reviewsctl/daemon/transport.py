"""HTTP/1.1 and JSON over the admin socket: one exchange at a time, every fault a DaemonError.

Implements the client's side of security-and-operations.md A2 and A3: ``Host: reviewsd``, errors as
RFC 9457 problems, long work as NDJSON. Standard library and msgspec, no reactor, so that the tool
starts fast.

Importing this costs about 25 ms (``http.client`` pulls in ``email`` and ``ssl``).
"""

import contextlib
import http.client
import shlex
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from reviewsctl.daemon.default_paths import node_sockets
from reviewsctl.daemon.errors import DaemonError, NotRunning, Refused, UnexpectedAnswer, Unreachable
from reviewsctl.daemon.units import start_command
from reviewsd.api.texts import printable

API = 1
"""The version of the admin API that this module speaks (header ``Reviewsd-Api``)."""

MAX_BODY = 16 * 1024 * 1024  # bytes of one answer
PIECE = 65_536  # bytes of a file that are read at once
MAX_LINE = 1024 * 1024  # bytes of one NDJSON line

_T = TypeVar("_T")


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An RFC 9457 body; every member is optional there (3.1)."""

    title: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Peer:
    """The versions of a daemon, from the headers of its answers (A3)."""

    api: int
    version: str


def mismatch(own: str | None, peer: Peer) -> str | None:
    """Return a warning if reviewsctl and the daemon have different versions.

    The own one is None where reviewsctl is not installed.
    """
    if peer.api != API:
        return (
            f"reviewsd {peer.version} speaks admin API {peer.api}, this reviewsctl speaks {API}: "
            "use the reviewsctl installed with the daemon"
        )
    if own is not None and own != peer.version:
        return (
            f"reviewsctl is {own} but the running reviewsd is {peer.version}: "
            "after an upgrade, restart the daemon (sudo systemctl restart reviewsd), or its container"
        )
    return None


@dataclass(frozen=True, slots=True)
class Answer(Generic[_T]):
    """One JSON document of the daemon."""

    value: _T
    text: str
    """The received document with all its members, on one line and safe to print."""


class Transport:
    """Sends requests to one daemon, with a connection for each.

    Args:
        path: The admin socket.
        observe: Called with the versions of the daemon before its answer is read.
    """

    def __init__(self, path: Path, observe: Callable[[Peer], None]) -> None:
        self._path = path
        self._observe = observe

    def whole(self, method: str, target: str, seconds: float) -> bytes:
        """Return the body of an answer, which must arrive within the given seconds."""
        with self._exchange(method, target, seconds) as response, self._faults(seconds):
            return _body(response)

    def file(
        self, method: str, target: str, seconds: float, write: Callable[[bytes], object]
    ) -> http.client.HTTPMessage:
        """Write an answer of any size in pieces, and return its headers.

        Each piece must arrive within the given seconds.

        Raises:
            UnexpectedAnswer: The answer is incomplete.
        """
        with self._exchange(method, target, seconds) as response:
            remaining = int(response.getheader("Content-Length", "0"))
            while remaining:
                with self._faults(seconds):
                    piece = response.read(min(remaining, PIECE))
                if not piece:
                    raise UnexpectedAnswer(f"it ended {remaining:,} bytes too early")
                remaining -= len(piece)
                write(piece)
            return response.headers

    def lines(self, method: str, target: str, seconds: float | None) -> Iterator[bytes]:
        """Yield the complete lines of an answer, each within the given seconds; None for no limit."""
        with self._exchange(method, target, seconds) as response:
            while True:
                with self._faults(seconds):
                    line = response.readline(MAX_LINE)
                if not line.endswith(b"\n"):
                    return
                yield line

    @contextlib.contextmanager
    def _exchange(
        self, method: str, target: str, seconds: float | None
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request, and yield its response of 2xx.

        Raises:
            DaemonError: There is no such response.
        """
        with contextlib.closing(_UnixConnection(self._path, seconds)) as connection:
            try:
                connection.connect()
            except OSError as fault:
                raise _unreachable(self._path, fault) from fault
            with self._faults(seconds):
                connection.request(method, target, headers={"Accept": "application/json"})
                response = connection.getresponse()
                self._observe(_peer(response, self._path))
                if not http.client.OK <= response.status < http.client.MULTIPLE_CHOICES:
                    raise _refusal(response)
            yield response

    @contextlib.contextmanager
    def _faults(self, seconds: float | None) -> Iterator[None]:
        """Raise faults of the connection in the block as ``DaemonError``.

        The block may only read and write the connection: an OSError of the terminal (a closed
        pipe) is no fault of the daemon.
        """
        try:
            yield
        except TimeoutError as fault:
            raise Unreachable(
                f"no answer on {self._path} within {seconds or 0:g} s",
                "See its log: journalctl -u reviewsd",
            ) from fault
        except OSError as fault:  # RemoteDisconnected is one too
            raise Unreachable(
                f"it closed the connection ({fault.strerror or fault})",
                "It may be restarting: systemctl status reviewsd",
            ) from fault
        except http.client.HTTPException as fault:
            raise UnexpectedAnswer(f"it is not valid HTTP ({fault!r})") from fault


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a UNIX socket, with the Host header ``reviewsd`` (A2)."""

    def __init__(self, path: Path, seconds: float | None) -> None:
        super().__init__("reviewsd", timeout=seconds)
        self._path = path
        self._seconds = seconds

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._seconds)
        self.sock.connect(str(self._path))


def _unreachable(path: Path, fault: OSError) -> Unreachable:
    beside = path.with_name("reviewsd.yaml")
    begin = f"reviewsd --config {shlex.quote(str(beside))}" if beside.exists() else start_command()
    start = f"Start it: {begin} (or name its socket with --socket)"
    match fault:
        case FileNotFoundError() if len(nodes := node_sockets(path)) > 1:
            names = ", ".join(node.name for node in nodes)
            return NotRunning(
                f"several nodes run here ({names} in {path.parent})",
                f"Name one of them: --socket {shlex.quote(str(nodes[0]))}",
            )
        case FileNotFoundError():
            return NotRunning(f"it is not running: there is no {path}", start)
        case ConnectionRefusedError():
            return NotRunning(f"it is not running: no process listens on {path}", start)
        case PermissionError():
            return Unreachable(
                f"no permission to use {path}",
                "Use sudo, or join the group reviewsd-admin (sudo usermod -aG reviewsd-admin $USER) and"
                " log in again. In a container: docker exec without --user",
            )
        case _:
            return Unreachable(f"cannot connect to {path}: {fault.strerror or fault}", start)


def _peer(response: http.client.HTTPResponse, path: Path) -> Peer:
    api = response.getheader("Reviewsd-Api", "")
    if not (api.isascii() and api.isdigit()):
        raise UnexpectedAnswer(
            f"what answers on {path} is not reviewsd", "Name its admin socket with --socket"
        )
    return Peer(int(api), printable(response.getheader("Reviewsd-Version", "unknown")))


def _refusal(response: http.client.HTTPResponse) -> DaemonError:
    try:
        problem = msgspec.json.decode(_body(response), type=_Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return UnexpectedAnswer(f"HTTP {response.status} {response.reason} without a reason")
    return Refused(problem.title, problem.detail, status=response.status)


def _body(response: http.client.HTTPResponse) -> bytes:
    body = response.read(MAX_BODY + 1)
    if len(body) > MAX_BODY:
        raise UnexpectedAnswer(f"more than {MAX_BODY:,} bytes")
    return body


def decode(document: bytes, kind: type[_T]) -> Answer[_T]:
    """Decode a document of the daemon.

    Raises:
        UnexpectedAnswer: It is of another type.
    """
    try:
        value = msgspec.json.decode(document, type=kind)
        line = msgspec.json.format(document, indent=-1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UnexpectedAnswer(
            f"this reviewsctl does not understand it ({fault})",
            "Use the reviewsctl installed with the daemon",
        ) from fault
    return Answer(value, printable(line))
