"""Sends requests to callbacks through treq (E11, E13).

treq follows no redirect, buffers no response, keeps no cookie and decodes nothing here, because the agent
removes Set-Cookie and Content-Encoding.
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

PIECE = 262_144  # bytes encrypted at once; a request that fits is written in one piece


@implementer(IBodyProducer)
@dataclass(slots=True, eq=False, kw_only=True)
class CallbackRequest:
    """A request to a callback, which treq passes to the agent as the producer of a body."""

    method: str
    """GET for a verification or denial, POST for a delivery."""
    callback: Callback
    slot: Slot
    """The slot of the attempt."""
    headers: bytes = b""
    """Header lines, each ended with CRLF."""
    body: tuple[Buffer, ...] = ()
    """Slices of mapped files, which are never joined or copied whole."""

    @property
    def reads_body(self) -> bool:
        """Whether the body of the response is read."""
        return self.method == "GET"

    @property
    def length(self) -> int:
        """The bytes of the body."""
        return sum(map(len, self.body))

    def pieces(self, head: bytes) -> Iterator[Buffer]:
        """Yield head and body in pieces that are encrypted at once."""
        if len(head) + self.length <= PIECE:
            yield b"".join((head, *self.body))
            return
        yield head
        for part in self.body:
            view = memoryview(part)
            for start in range(0, len(view), PIECE):
                yield view[start : start + PIECE]

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:
        """Write the body to a consumer; our agent reads ``pieces`` instead."""
        for part in self.body:
            consumer.write(bytes(part))
        return succeed(None)

    def pauseProducing(self) -> None:
        """Do nothing, because all is written."""

    resumeProducing = stopProducing = pauseProducing


class CallbackClient:
    """Sends requests to callbacks with treq.

    Args:
        agent: Sends the requests: ``CallbackAgent``.
        clock: For timeouts.
    """

    def __init__(self, agent: IAgent, clock: IReactorTime) -> None:
        self._clock = clock
        self._cookies = _NoCookies()
        self._treq = HTTPClient(agent, self._cookies)

    def send(self, request: CallbackRequest, timeout: float) -> Deferred[_Response]:
        """Send a request; the timeout, in seconds, includes the look-up of the name.

        Returns:
            The response, or NoResponseError or NetworkFullError.
        """
        response = self._treq.request(
            request.method,
            _ExactURL(request.callback.url),
            data=request,
            cookies=self._cookies,
            allow_redirects=False,
            unbuffered=True,
            reactor=self._clock,  # type: ignore[arg-type]  # asks for more than it uses
        )
        return response.addTimeout(timeout, self._clock, _time_out)


def _time_out(result: object, seconds: float) -> Any:  # noqa: ANN401 - a response, or an error
    if isinstance(result, Failure) and result.check(CancelledError):
        raise NoResponseError(f"no answer within {seconds:g} s")
    return result


class _ExactURL(EncodedURL):
    """A URL that is sent byte for byte: hyperlink drops a bare ``?`` and refuses IPv6 (F4, W7).

    treq neither parses nor joins it, which took 150 microseconds.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def to_uri(self) -> "_ExactURL":
        return self

    def to_text(self, with_password: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002
        return self._text


class _NoCookies(IndexableCookieJar):
    """A jar that keeps no cookie and sends none."""

    def add_cookie_header(self, request: object) -> None:
        pass

    def extract_cookies(self, response: object, request: object) -> None:
        pass
