"""Requests to a source, and their repetition (sources.md 4).

No cookies, no proxy of the environment, no redirect by itself. What is received is bounded in bytes and in
time, and only addresses that may be dialed are dialed. Messages have hosts, never queries or bodies.
"""

import contextlib
import datetime
import email.utils
import functools
import http.client
import io
import random
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_network
from typing import BinaryIO, Final, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

import msgspec

from reviewsctl.sources.faults import ReadFailedError, SourceStoppedError
from reviewsd.api.texts import counted
from reviewsd.domain.addresses import Addresses, AddressRefusedError

MAX_PAGE: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 40
CONNECT_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 60.0
PAUSES: Final = (2.0, 8.0, 30.0, 120.0)
"""Seconds before the second try and those after it."""
MAX_RETRY_AFTER: Final = 600.0

_PRIVATE: Final = (
    *("127.0.0.0/8", "::1/128", "10.0.0.0/8"),
    *("172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
)
"""Opened by ``allow_private``; link-local and metadata addresses never are."""
_REPEATED: Final = frozenset((408, 425, 429))
_QUOTA: Final = (b"RESOURCE_EXHAUSTED", b"rateLimitExceeded", b"quotaExceeded", b"userRateLimit")
_MAX_ERROR: Final = 65_536
_RATIO_FROM: Final = 1024 * 1024
_HEADERS: Final = {
    "User-Agent": "reviewsctl-sync",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}
_PIECE: Final = 65_536  # bytes that are read or unpacked at once
_UNQUOTED: Final = "!#$%&'()*+,/:;=?@[]~"  # of a target; its percent signs are there already

_T = TypeVar("_T")


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

    def checked(self, remedy: str) -> "Answer":
        """Return this response if it is a success.

        Args:
            remedy: What to do where the credentials are not accepted.

        Raises:
            ReadFailedError: It is none; the message does not quote it.
        """
        match self.status:
            case HTTPStatus.OK:
                return self
            case HTTPStatus.UNAUTHORIZED:
                raise SourceStoppedError(
                    f"401: {self.host} does not accept the credentials", remedy
                )
            case HTTPStatus.FORBIDDEN if any(word in self.body for word in _QUOTA):
                raise ReadFailedError(f"403: the quota at {self.host} is used up")
            case HTTPStatus.FORBIDDEN:
                raise SourceStoppedError(
                    f"403: {self.host} does not permit it",
                    "Is the API enabled and approved, and may this account read the business?",
                )
            case HTTPStatus.NOT_FOUND:
                raise ReadFailedError(
                    f"404: {self.host} does not know the business", "Check its name or number."
                )
        raise ReadFailedError(f"{self.status} from {self.host}")

    def decoded(self, kind: type[_T]) -> _T:
        """Return the JSON of the body.

        Raises:
            ReadFailedError: It is none, is cut, or has another form.
        """
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ReadFailedError(f"what {self.host} sent is not the JSON of its API") from error


def host_of(url: str) -> str:
    """Return the host and port of an address, which messages may have."""
    return urlsplit(url).netloc.rpartition("@")[2]


class Wire:
    """Makes requests for one run of a source, and counts them.

    Args:
        allow_private: Whether private and loopback addresses may be dialed.
        requests_left: The requests that the source has left of its ``requests_per_day``.
        now: Returns the time of day, for Retry-After.
        sleep: Waits for seconds between two tries.
        report_wait: Called with the reason of each wait.
        idle_seconds: How long the server may be silent.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        requests_left: int,
        now: Callable[[], datetime.datetime],
        sleep: Callable[[float], None] = time.sleep,
        report_wait: Callable[[str], None] = lambda _: None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        networks = [ip_network(network) for network in _PRIVATE] if allow_private else []
        self._addresses = Addresses(networks)
        self._allowance = requests_left
        self._now = now
        self._sleep = sleep
        self._report_wait = report_wait
        self._idle_seconds = idle_seconds
        self._jitter = random.SystemRandom()
        self.requests = 0

    def check_left(self, requests: int) -> None:
        """Check that the day has so many requests left: a read that cannot end is not begun.

        Raises:
            ReadFailedError: It has not.
        """
        allowance = self._allowance - self.requests
        if requests > allowance:
            raise ReadFailedError(
                f"it takes {counted(requests, 'more request')}, and {allowance:,} of requests_per_day are left"
            )

    def get(self, url: str, token: Callable[[bool], str], remedy: str) -> Answer:
        """Return a success of a GET with an access token: one new token where it is not accepted.

        Args:
            url: The address.
            token: Returns the access token; called with True for a new one.
            remedy: What to do where even a new token is not accepted.

        Raises:
            ReadFailedError: It is no success.
        """
        for is_new in (False, True):
            answer = self.request("GET", url, {"Authorization": f"Bearer {token(is_new)}"})
            if answer.status != HTTPStatus.UNAUTHORIZED:
                break
        return answer.checked(remedy)

    def request(
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
        tries = len(PAUSES) + 1
        for number, pause in enumerate((*PAUSES, None), 2):
            least = 0.0
            try:
                answer = self._exchange(method, url, headers, data, out)
            except _NoAnswerError as error:
                reason = str(error)
            else:
                is_final = answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
                if is_final and answer.status not in _REPEATED:
                    return answer
                reason = f"{answer.status} from {answer.host}"
                least = self._retry_after(answer)
            if pause is not None:
                seconds = max(pause * self._jitter.uniform(0.5, 1.5), least)
                count = f"{number} of {tries}"
                self._report_wait(
                    f"{reason}; tried again in {seconds:.0f} s ({count}), Ctrl-C ends"
                )
                self._sleep(seconds)
        raise ReadFailedError(f"{reason}, tried {tries} times")

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

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        data: bytes | None,
        out: BinaryIO | None,
    ) -> Answer:
        self.check_left(1)
        self.requests += 1
        parts, host = urlsplit(url), host_of(url)
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        if out is not None:
            out.seek(0)
            out.truncate()
        try:
            fields = {**_HEADERS, **headers, "Host": host.encode("idna").decode()}
        except UnicodeError:
            raise SourceStoppedError(f"{host} is no name of a host") from None
        try:
            connection = http.client.HTTPConnection(host)  # only speaks: the socket is ours
            with contextlib.closing(connection), self._connected(parts) as connection.sock:
                connection.request(method, quote(target, safe=_UNQUOTED), data, fields)
                response = connection.getresponse()
                body = self._body(response, host, out)
        except TimeoutError:
            reason = f"no answer from {host} within {self._idle_seconds:g} s"
            raise _NoAnswerError(reason) from None
        except (OSError, http.client.HTTPException, zlib.error):
            # no text of the library, which could quote an address
            raise _NoAnswerError(f"the connection to {host} was lost") from None
        names = reversed(response.getheaders())
        return Answer(
            status=response.status,
            headers={name.lower(): value for name, value in names},
            body=body,
            url=url,
        )

    def _connected(self, parts: SplitResult) -> socket.socket:
        """Return a connection to an address that may be dialed, with verified TLS."""
        host, is_secure = parts.hostname or "", parts.scheme == "https"
        place = host_of(parts.geturl())
        port = parts.port or (443 if is_secure else 80)
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise _NoAnswerError(f"{place} cannot be found") from None
        addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
        try:
            allowed = self._addresses.chosen(host, addresses)
        except AddressRefusedError as refusal:
            raise SourceStoppedError(
                f"{host} leads to {refusal.address}, which is not dialed ({refusal.reason})",
                "If that is meant, a source of type url may say allow_private: true.",
            ) from refusal
        for address in allowed:
            with contextlib.suppress(OSError):
                connection = socket.create_connection((address, port), CONNECT_SECONDS)
                break
        else:
            raise _NoAnswerError(f"cannot connect to {place}")
        connection.settimeout(self._idle_seconds)
        if not is_secure:
            return connection
        try:
            return self._tls.wrap_socket(connection, server_hostname=host)
        except ssl.SSLCertVerificationError:
            raise _NoAnswerError(f"the certificate of {place} cannot be verified") from None

    @functools.cached_property
    def _tls(self) -> ssl.SSLContext:
        """The context of all requests: it takes 16 ms to make."""
        return ssl.create_default_context()

    @staticmethod
    def _body(response: http.client.HTTPResponse, host: str, out: BinaryIO | None) -> bytes:
        """Read the body, a success into ``out`` if that is given, within bounds; return it else.

        Raises:
            ReadFailedError: It is larger than it may be.
            http.client.IncompleteRead: It is cut.
        """
        is_success, error = response.status == HTTPStatus.OK, io.BytesIO()
        target = out if is_success and out is not None else error
        limit = MAX_PAGE if is_success else _MAX_ERROR
        is_packed = response.getheader("Content-Encoding") == "gzip"
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if is_packed else None
        received = unpacked = 0
        while data := response.read(_PIECE):
            received += len(data)
            while data and not (unpacker is not None and unpacker.eof):
                piece = data if unpacker is None else unpacker.decompress(data, _PIECE)
                data = b"" if unpacker is None else unpacker.unconsumed_tail
                unpacked += len(piece)
                if unpacked > limit:
                    raise ReadFailedError(f"{host} sent more than {limit >> 10:,} KiB")
                if unpacked > max(_RATIO_FROM, MAX_RATIO * received):
                    raise ReadFailedError(
                        f"{host} sent what unpacks to more than {MAX_RATIO} times its size"
                    )
                target.write(piece)
        if response.length or (unpacker is not None and received and not unpacker.eof):
            raise http.client.IncompleteRead(b"")
        target.flush()
        return error.getvalue()
