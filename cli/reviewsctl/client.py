"""The daemon as reviewsctl sees it: HTTP/1.1 and JSON over the admin socket.

Implements the client's side of interfaces.md 1.5 and security-and-operations.md A2, A3: routes under
``/v1``, ``Host: reviewsd``, errors as RFC 9457 problems, long work as NDJSON. Standard library and
msgspec, no reactor, so that the tool starts fast. Members we do not know are ignored, so an older
reviewsctl reads a newer daemon.

Importing this costs about 25 ms (``http.client`` pulls in ``email`` and ``ssl``): ``main`` does it
only in commands that talk to the daemon.
"""

import contextlib
import datetime
import http.client
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeVar

import msgspec

API = 1
"""The version of the admin API that this module speaks (header ``Reviewsd-Api``)."""

ANSWER_SECONDS = 10.0  # status and ping are answered from memory
SILENCE_SECONDS = 600.0  # between two lines of a reload; one stage over a million reviews is silent
MAX_BODY = 16 * 1024 * 1024  # bytes of one answer
MAX_LINE = 1024 * 1024  # bytes of one NDJSON line

_T = TypeVar("_T")

# C0, DEL, C1, and the characters that reorder or break lines of a terminal (UAX 9, Zl, Zp).
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Text that cannot steer a terminal: control characters appear as ``\u001b``.

    In compact JSON such characters occur in strings only, where the same spelling is JSON's own
    escape: the document keeps its meaning.
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


Instant = Annotated[datetime.datetime, msgspec.Meta(tz=True)]
Outcome = Literal["published", "unchanged", "refused", "failed"]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What is being served."""

    revision: str
    published_at: Instant
    review_count: int
    updated_at: Instant | None
    """The date the data gives itself."""
    insights: bool


class LastReload(msgspec.Struct, frozen=True, kw_only=True):
    """The newest attempt to load the data."""

    at: Instant
    outcome: Outcome
    seconds: float


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """The data directory and how its loading goes."""

    dir: str
    state: Literal["ok", "degraded"]
    last_reload: LastReload | None
    failing_since: Instant | None
    problems: tuple[str, ...]
    """One line each, in the form of data-model.md 5."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/status``."""

    version: str
    pid: int
    started_at: Instant
    uptime_seconds: float
    base_url: str
    listen: tuple[str, ...]
    snapshot: Snapshot
    data: Data


class Ping(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/ping``."""

    pong: bool
    version: str


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a long job."""

    stage: str
    done: int
    total: int


class ReloadResult(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of ``POST /v1/reload``."""

    outcome: Outcome
    revision: str
    review_count: int
    seconds: float
    problems: tuple[str, ...] = ()


class _Event(msgspec.Struct, frozen=True):
    type: str


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An RFC 9457 body; every member is optional there (3.1)."""

    title: str = ""
    detail: str = ""


class DaemonError(Exception):
    """Why there is no answer to work with.

    Attributes:
        title: What kind of failure.
        detail: What happened.
        remedy: What the operator can do, a sentence or empty.
        status: The HTTP status of a refusal.
        exit_code: interfaces.md 1.4.
    """

    exit_code = 1

    def __init__(
        self, title: str, detail: str, *, remedy: str = "", status: int | None = None
    ) -> None:
        self.title = printable(title)
        self.detail = printable(detail)
        super().__init__(f"{self.title}: {self.detail}" if detail else self.title)
        self.remedy = remedy
        self.status = status

    def members(self) -> dict[str, object]:
        """The error as a JSON object, without what is empty."""
        names = ("title", "status", "detail", "remedy")
        return {name: value for name in names if (value := getattr(self, name))}


class Unreachable(DaemonError):  # noqa: N818  # named as the outcome it is
    """Nobody answers on the socket, or we may not ask."""

    exit_code = 3

    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__("reviewsd is not reachable", detail, remedy=remedy)


class Refused(DaemonError):  # noqa: N818  # the same
    """The daemon answered with a problem (RFC 9457)."""

    def __init__(self, problem: Problem, status: int) -> None:
        super().__init__(problem.title or f"HTTP {status}", problem.detail, status=status)
        if status == http.client.NOT_FOUND:
            self.exit_code = 4


class UnexpectedAnswer(DaemonError):  # noqa: N818  # the same
    """Something answered, but not in the way of the admin API."""

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__("unexpected answer", detail, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Peer:
    """Who answered, by the headers of every answer (A3)."""

    api: int
    version: str


def mismatch(own: str | None, peer: Peer) -> str | None:
    """What to tell an operator whose reviewsctl and daemon are not of one version.

    Args:
        own: This program's version, or None when it runs from a tree that is not installed.
        peer: The daemon's versions.
    """
    if peer.api != API:
        return (
            f"reviewsd {peer.version} speaks admin API {peer.api}, this reviewsctl speaks {API}: "
            "use the reviewsctl installed with the daemon"
        )
    if own is not None and own != peer.version:
        return (
            f"reviewsctl is {own} but the running reviewsd is {peer.version}: "
            "after an upgrade, restart the daemon (sudo systemctl restart reviewsd)"
        )
    return None


@dataclass(frozen=True, slots=True)
class Answer(Generic[_T]):
    """One JSON document of the daemon."""

    value: _T
    text: str
    """The document as it came, all members kept, on one line and safe to print."""


class Client:
    """Asks one daemon; each request is a connection of its own.

    Args:
        path: The admin socket.
        answer_seconds: How long an immediate answer may take.
        silence_seconds: How long a job may say nothing.
        observe: Told who answered, before the answer is read.
    """

    def __init__(
        self,
        path: Path,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
        observe: Callable[[Peer], None] = lambda _peer: None,
    ) -> None:
        self._path = path
        self._answer_seconds = answer_seconds
        self._silence_seconds = silence_seconds
        self._observe = observe

    def status(self) -> Answer[Status]:
        """What is served, since when, and how the data is."""
        return _decode(self._whole("GET", "/v1/status"), Status)

    def ping(self) -> Answer[Ping]:
        """Whether the daemon answers."""
        return _decode(self._whole("GET", "/v1/ping"), Ping)

    def reload_later(self) -> str:
        """Asks for a reload without waiting for it; returns the daemon's document."""
        return _decode(self._whole("POST", "/v1/reload?wait=false"), _Event).text

    def reload(self, step: Callable[[Answer[Progress]], None]) -> Answer[ReloadResult]:
        """Reloads the data and waits for the outcome.

        Giving up the wait does not stop the daemon (A3).

        Args:
            step: Called with each step, of which there may be none.
        """
        with self._exchange("POST", "/v1/reload", self._silence_seconds) as response:
            while True:
                with self._faults(self._silence_seconds):
                    line = response.readline(MAX_LINE)
                if not line.endswith(b"\n"):
                    raise UnexpectedAnswer(
                        "the daemon broke off before the result of the reload",
                        "How it ended: reviewsctl status",
                    )
                match _decode(line, _Event).value.type:
                    case "progress":
                        step(_decode(line, Progress))
                    case "result":
                        return _decode(line, ReloadResult)
                    case _:  # an event of a newer daemon
                        continue

    def _whole(self, method: str, target: str) -> bytes:
        seconds = self._answer_seconds
        with self._exchange(method, target, seconds) as response, self._faults(seconds):
            return _body(response)

    @contextlib.contextmanager
    def _exchange(
        self, method: str, target: str, seconds: float
    ) -> Iterator[http.client.HTTPResponse]:
        """One request; inside the block, the answer to it, which is a 2xx.

        Raises:
            DaemonError: In every other case.
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
    def _faults(self, seconds: float) -> Iterator[None]:
        """Faults of the connection in the block, as DaemonErrors.

        The block holds reads and writes of the connection and nothing else: an OSError of the
        operator's terminal (a closed pipe) is not the daemon's fault.
        """
        try:
            yield
        except TimeoutError as fault:
            raise Unreachable(
                f"no answer on {self._path} within {seconds:g} s",
                "See what it does: journalctl -u reviewsd",
            ) from fault
        except OSError as fault:  # RemoteDisconnected is one too
            raise Unreachable(
                f"it hung up ({fault.strerror or fault})",
                "It may be restarting: systemctl status reviewsd",
            ) from fault
        except http.client.HTTPException as fault:
            raise UnexpectedAnswer(f"not HTTP as it should be ({fault!r})") from fault


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a UNIX socket. The host makes the Host header, which must be ``reviewsd`` (A2)."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("reviewsd", timeout=seconds)
        self._path = path
        self._seconds = seconds

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._seconds)
        self.sock.connect(str(self._path))


def _unreachable(path: Path, fault: OSError) -> Unreachable:
    start = "Start it: sudo systemctl start reviewsd (or name its socket with --socket)"
    match fault:
        case FileNotFoundError():
            return Unreachable(f"it is not running: there is no {path}", start)
        case ConnectionRefusedError():
            return Unreachable(f"it is not running: nobody listens on {path}", start)
        case PermissionError():
            return Unreachable(
                f"no permission to use {path}",
                "Use sudo, or join the group reviewsd-admin "
                "(sudo usermod -aG reviewsd-admin $USER) and log in again",
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
        problem = msgspec.json.decode(_body(response), type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return UnexpectedAnswer(f"HTTP {response.status} {response.reason} without a reason")
    return Refused(problem, response.status)


def _body(response: http.client.HTTPResponse) -> bytes:
    body = response.read(MAX_BODY + 1)
    if len(body) > MAX_BODY:
        raise UnexpectedAnswer(f"more than {MAX_BODY:,} bytes")
    return body


def _decode(document: bytes, kind: type[_T]) -> Answer[_T]:
    try:
        value = msgspec.json.decode(document, type=kind)
        line = msgspec.json.format(document, indent=-1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UnexpectedAnswer(
            f"this reviewsctl does not understand it ({fault})",
            "Use the reviewsctl installed with the daemon",
        ) from fault
    return Answer(value, printable(line))
