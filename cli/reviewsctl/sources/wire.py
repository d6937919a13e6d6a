"""One HTTP exchange with a source, and its repetition (sources.md 4).

No cookies, no proxy of the environment, no redirect by itself. What is received is bounded in bytes and in
time. Messages have hosts, never queries or bodies.
"""

import datetime
import email.utils
import io
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NoReturn
from urllib.parse import urlsplit

from hyperlink import URL
from OpenSSL import SSL
from service_identity import VerificationError
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.defer import TimeoutError as DeferredTimeoutError
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost, DNSLookupError
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError, RequestGenerationFailed
from twisted.web.client import FileBodyProducer, ResponseDone, ResponseFailed
from twisted.web.http import PotentialDataLoss
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent

from reviewsctl.sources.budget import RequestBudget
from reviewsctl.sources.faults import ReadFailedError

MAX_PAGE: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 40
IDLE_SECONDS: Final = 60
PAUSES: Final = (2.0, 8.0, 30.0, 120.0)
"""Seconds before the second try and those after it."""
MAX_RETRY_AFTER: Final = 600.0

_REPEATED: Final = frozenset((408, 425, 429))
_OK: Final = 200
_SERVER_ERROR: Final = 500
_MAX_ERROR: Final = 65_536
_RATIO_FROM: Final = 1024 * 1024
_HEADERS: Final = {"User-Agent": "reviewsctl-sync", "Accept-Encoding": "gzip"}
_PIECE: Final = 65_536  # bytes that are unpacked at once


class _NoAnswerError(Exception):
    """A network fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response; the body of a success is in the file that was given."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case; of several only the first."""
    body: bytes = b""
    """The body of an error, or of a success without a file."""
    url: str

    @property
    def host(self) -> str:
        """The host, for messages."""
        return host_of(self.url)


def host_of(url: str) -> str:
    """Return the host and port of an address, which messages may have."""
    return urlsplit(url).netloc.rpartition("@")[2]


class Wire:
    """Makes requests for one run of a source.

    Args:
        reactor: Twisted's, or in tests of pauses a Clock.
        agent: Sends the requests.
        budget: Counts them.
        random: Returns a number of 0 to 1.
        now: Returns the time of day, for Retry-After.
    """

    def __init__(
        self,
        reactor: Any,  # noqa: ANN401  # interfaces of a reactor, which are many
        agent: IAgent,
        budget: RequestBudget,
        random: Callable[[], float],
        now: Callable[[], datetime.datetime],
    ) -> None:
        self._reactor = reactor
        self._agent = agent
        self.budget = budget
        self._random = random
        self._now = now

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        data: bytes | None = None,
        out: BinaryIO | None = None,
    ) -> Answer:
        """Make a request until it is answered by something that is final.

        Args:
            method: GET or POST.
            url: The address.
            headers: Beside those of HTTP.
            data: The body of the request.
            out: Takes the body of a success.

        Raises:
            ReadFailedError: It was tried as often as it may be.
            SourceStoppedError: The address may not be dialed.
        """
        for pause in (*PAUSES, None):
            reason, least = "", 0.0
            try:
                answer = await self._exchange(method, url, headers, data, out)
            except _NoAnswerError as error:
                reason = str(error)
            else:
                if answer.status < _SERVER_ERROR and answer.status not in _REPEATED:
                    return answer
                reason = f"{answer.status} from {answer.host}"
                least = self._retry_after(answer)
            if pause is None:
                break
            jittered = pause * (0.5 + self._random())
            await deferLater(self._reactor, max(jittered, least))
        raise ReadFailedError(f"{reason}, tried {len(PAUSES) + 1} times")

    def _retry_after(self, answer: Answer) -> float:
        text = answer.headers.get("retry-after", "").strip()
        if text.isascii() and text.isdigit():
            return min(float(text[:9]), MAX_RETRY_AFTER)
        try:
            then = email.utils.parsedate_to_datetime(text)
        except ValueError:
            return 0.0
        if then.tzinfo is None:
            then = then.replace(tzinfo=datetime.UTC)
        return min(max(0.0, (then - self._now()).total_seconds()), MAX_RETRY_AFTER)

    async def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        data: bytes | None,
        out: BinaryIO | None,
    ) -> Answer:
        self.budget.take()
        host = host_of(url)
        body = io.BytesIO()
        if out is not None:
            out.seek(0)
            out.truncate()
        try:
            request = self._agent.request(
                method.encode(),
                URL.from_text(url).to_uri().to_text().encode("ascii"),
                Headers({name: [value] for name, value in {**_HEADERS, **headers}.items()}),
                None if data is None else FileBodyProducer(io.BytesIO(data)),
            )
            response = await request.addTimeout(IDLE_SECONDS, self._reactor, _time_out)
            is_success = response.code == _OK
            target = out if is_success and out is not None else body
            limit = MAX_PAGE if is_success else _MAX_ERROR
            is_packed = response.headers.getRawHeaders(b"content-encoding") == [b"gzip"]
            collector = _Collector(self._reactor, target, limit, is_packed=is_packed)
            response.deliverBody(collector)
            await collector.done
        except _NETWORK_FAULTS as error:
            if any(isinstance(cause, CancelledError) for cause in _causes(error)):
                raise CancelledError from None  # the command is being stopped
            raise _NoAnswerError(_reason(error, host)) from None
        except _TooMuchError as error:
            raise ReadFailedError(f"{host} sent {error}") from None
        return Answer(
            status=response.code,
            headers={
                name.decode("latin-1").lower(): values[0].decode("latin-1")
                for name, values in response.headers.getAllRawHeaders()
            },
            body=body.getvalue(),
            url=url,
        )


_NETWORK_FAULTS: Final = (
    *(ConnectError, ConnectionLost, ConnectionDone, DNSLookupError, DeferredTimeoutError),
    *(ResponseFailed, ParseError, RequestGenerationFailed),
)


def _time_out(_result: object, _seconds: float) -> NoReturn:
    raise DeferredTimeoutError


def _causes(error: BaseException) -> list[BaseException]:
    return [error, *(cause.value for cause in getattr(error, "reasons", ()))]


def _reason(error: BaseException, host: str) -> str:
    """Return what to say of a network fault: no text of the library, which could quote an address."""
    if any(isinstance(cause, SSL.Error | VerificationError) for cause in _causes(error)):
        return f"the certificate of {host} cannot be verified"
    match error:
        case DNSLookupError():
            return f"{host} cannot be found"
        case DeferredTimeoutError():
            return f"no answer from {host} within {IDLE_SECONDS} s"
        case ConnectError():
            return f"cannot connect to {host}"
    return f"the connection to {host} was lost"


class _TooMuchError(Exception):
    """A body is larger than it may be."""


class _Collector(Protocol):
    """Writes a body to a file, within bounds.

    Args:
        reactor: For the time without a byte.
        out: The file.
        limit: Bytes, unpacked.
        is_packed: Whether it is gzip.
    """

    def __init__(self, reactor: Any, out: BinaryIO, limit: int, *, is_packed: bool) -> None:  # noqa: ANN401
        self.done: Deferred[None] = Deferred(self._cancel)
        self._reactor = reactor
        self._out = out
        self._limit = limit
        self._unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if is_packed else None
        self._received = self._written = 0
        self._idle: IDelayedCall = reactor.callLater(IDLE_SECONDS, self._time_out)

    def dataReceived(self, data: bytes) -> None:
        """Write a piece."""
        if self.done.called:
            return
        self._idle.reset(IDLE_SECONDS)
        self._received += len(data)
        if self._unpacker is None:
            self._write(data)
            return
        while data and not self._unpacker.eof and not self.done.called:
            try:
                piece = self._unpacker.decompress(data, _PIECE)
            except zlib.error:
                self._fail(ConnectionLost())
                return
            data = self._unpacker.unconsumed_tail
            self._write(piece)

    def _write(self, data: bytes) -> None:
        self._written += len(data)
        if self._written > self._limit:
            self._fail(_TooMuchError(f"more than {self._limit >> 10:,} KiB"))
        elif self._written > max(_RATIO_FROM, MAX_RATIO * self._received):
            self._fail(_TooMuchError(f"what unpacks to more than {MAX_RATIO} times its size"))
        else:
            self._out.write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """End: without a length, the end of the connection is the end of the body."""
        if self._idle.active():
            self._idle.cancel()
        if self.done.called:
            return
        is_cut = self._unpacker is not None and self._received and not self._unpacker.eof
        if reason.check(ResponseDone, PotentialDataLoss) and not is_cut:
            self._out.flush()
            self.done.callback(None)
        else:
            self.done.errback(ConnectionLost())

    def _time_out(self) -> None:
        self._fail(DeferredTimeoutError())

    def _fail(self, error: Exception) -> None:
        self.done.errback(error)
        self._close()

    def _cancel(self, _: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._idle.active():
            self._idle.cancel()
        if self.transport is not None:
            self.transport.loseConnection()
