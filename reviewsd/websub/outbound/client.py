"""Sends requests to callbacks through treq (E11, E13).

treq follows no redirect and buffers no response here, which each request switches off. It keeps no cookie and
decodes nothing, because the agent removes Set-Cookie and Content-Encoding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hyperlink import EncodedURL
from treq.client import HTTPClient
from treq.cookies import IndexableCookieJar
from treq.response import _Response  # treq has no public name for it
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.interfaces import IConsumer, IReactorTime
from twisted.python.failure import Failure
from twisted.web.iweb import IAgent, IBodyProducer
from zope.interface import implementer

from reviewsd.domain.callback import Callback
from reviewsd.http1.representation import Buffer
from reviewsd.websub.outbound.response_parser import NoResponseError
from reviewsd.websub.slots import Slot

PIECE = 262_144  # most bytes that are encrypted in one call; a request that fits is one piece


@implementer(IBodyProducer)
@dataclass(slots=True, eq=False, kw_only=True)
class CallbackRequest:
    """A request to a callback.

    It is the producer of its own body, because that is the only object that treq passes to the agent unchanged.
    """

    method: str
    """GET for a verification or denial, POST for a delivery."""
    callback: Callback
    slot: Slot
    """The place of the attempt among those that run at the same time (``slots``)."""
    headers: bytes = b""
    """Header lines, each ended with CRLF."""
    body: Buffer = b""
    """Perhaps a mapped file, which is copied behind the head only if the whole request is one piece."""

    @property
    def reads_body(self) -> bool:
        """Whether the body of the response is read."""
        return self.method == "GET"

    @property
    def length(self) -> int:
        """The size of the body in bytes."""
        return len(self.body)

    def pieces(self, head: bytes) -> Iterator[Buffer]:
        """Yield head and body in pieces, each of which is encrypted in one call."""
        if len(head) + len(self.body) <= PIECE:
            yield b"".join((head, self.body))
            return
        yield head
        view = memoryview(self.body)
        for start in range(0, len(view), PIECE):
            yield view[start : start + PIECE]

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:
        """Write the body to a consumer; our agent reads ``pieces`` instead."""
        consumer.write(bytes(self.body))
        return succeed(None)

    def pauseProducing(self) -> None:
        """Do nothing, because ``startProducing`` has written everything."""

    resumeProducing = stopProducing = pauseProducing


class CallbackClient:
    """Sends requests to callbacks with treq.

    Args:
        agent: Sends the requests: ``CallbackAgent``.
        clock: Runs the timeouts.
    """

    def __init__(self, agent: IAgent, clock: IReactorTime) -> None:
        self._clock = clock
        self._cookies = _NoCookies()
        self._treq = HTTPClient(agent, self._cookies)

    def send(self, request: CallbackRequest, timeout: float) -> Deferred[_Response]:
        """Send a request; the timeout, in seconds, is from the look-up of the name to the end of the response.

        Returns:
            A Deferred of the response, which fails with NoResponseError or NetworkFullError.
        """
        response = self._treq.request(
            request.method,
            _NO_URL,
            data=request,
            cookies=self._cookies,
            allow_redirects=False,
            unbuffered=True,
            reactor=self._clock,  # type: ignore[arg-type]  # so that treq does not import the global one
        )
        return response.addTimeout(timeout, self._clock, _time_out)


def _time_out(result: object, seconds: float) -> Any:  # noqa: ANN401 - a response, or an error
    if isinstance(result, Failure) and result.check(CancelledError):
        raise NoResponseError(f"no answer within {seconds:g} s")
    return result


class _NoURL(EncodedURL):
    """Stands in for the URL: the agent takes the callback of the request, byte for byte.

    hyperlink would drop a bare ``?`` and refuse IPv6 (F4, W7), and take 150 microseconds. treq's agent for
    cookies parses the text, which is quick if it is always the same.
    """

    def __init__(self) -> None: ...

    def to_uri(self) -> "_NoURL":
        return self

    def to_text(self, with_password: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002
        return "https:"


_NO_URL = _NoURL()


class _NoCookies(IndexableCookieJar):
    """A jar that keeps no cookie and sends none."""

    def add_cookie_header(self, request: object) -> None:
        pass

    def extract_cookies(self, response: object, request: object) -> None:
        pass
