"""The client of callbacks, and the only place where treq is used (E11, E13).

Verification is a GET through treq, with everything off that treq does of its own accord: redirects,
buffering, cookies, gzip. It has an HTTPClient of its own for each call, because one shares its
cookies among all it is used for, and knows one agent, where admission and timeout belong to a call.
A delivery comes prepared and has no answer's body to read: there is nothing in it for treq to do.

Both end in the one guarded way out (``requests.py``). treq reaches it as an IAgent, which sends the
hub's own fields instead of what its callers would add, and shows them nothing of the answer but
status, body, and when to come back.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from http.cookiejar import DefaultCookiePolicy
from typing import Any

from hyperlink import EncodedURL
from treq.client import HTTPClient
from treq.content import collect
from treq.cookies import IndexableCookieJar
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IProtocol, IReactorTime
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IClientRequest, IResponse
from zope.interface import implementer

from reviewsd.domain.callback import Callback, rebuilt
from reviewsd.websub.outbound.exchange import OutboundRequest
from reviewsd.websub.outbound.outcomes import (
    Answered,
    AttemptOutcome,
    Push,
    Throttled,
    Unanswered,
)
from reviewsd.websub.outbound.requests import Outbound
from reviewsd.websub.slots import Slot

MAX_CHALLENGE_BODY = 1024  # bytes of the answer to a verification; E12

_Exchange = Callable[[Callback, OutboundRequest], Coroutine[Deferred[Any], Any, AttemptOutcome]]


class CallbackClient:
    """Calls callbacks.

    Args:
        clock: For treq, which would import a reactor.
        outbound: The way out.
        user_agent: Who is calling (H6): ``reviewsd/<version> (+<base_url>/; WebSub hub)``.
    """

    def __init__(self, clock: IReactorTime, outbound: Outbound, user_agent: bytes) -> None:
        self._clock = clock
        self._outbound = outbound
        self._fields = b"User-Agent: %b\r\nAccept-Encoding: identity\r\n" % user_agent

    async def verify(
        self,
        callback: Callback,
        *,
        timeout: float,
        slot: Slot,
    ) -> Answered | Unanswered | Throttled:
        """GET the callback, with the hub's parameters already in it, and read what it says.

        Args:
            callback: ``Callback.adding(...)``.
            timeout: Seconds for the whole of it.
            slot: The place of the attempt.
        """
        exchange = partial(self._outbound.exchange, timeout=timeout, slot=slot)
        agent = _Agent(exchange, self._fields)
        client = HTTPClient(agent, cookiejar=_no_cookies())
        try:
            response = await client.get(
                _ExactURL(callback.url),
                allow_redirects=False,
                unbuffered=True,
                reactor=self._clock,  # type: ignore[arg-type]  # asks for more than it uses
            )
        except _NotAnsweredError as error:
            return error.outcome
        body = bytearray()
        await collect(response, body.extend)
        return Answered(
            status=response.code,
            headers=agent.fields,
            body=bytes(body),
            address=agent.address,
        )

    async def deliver(
        self,
        callback: Callback,
        push: Push,
        *,
        timeout: float,
        slot: Slot,
    ) -> Answered | Unanswered | Throttled:
        """POST a topic's content (websub.md 3). The answer's body is never read.

        Args:
            callback: As subscribed.
            push: The prepared content.
            timeout: Seconds for the whole of it.
            slot: The place of the attempt.
        """
        signature = push.signature
        signed = b"" if signature is None else b"X-Hub-Signature: %b\r\n" % signature
        head = b"POST %b HTTP/1.1\r\nHost: %b\r\n%b%b%b\r\n" % (
            callback.target.encode("ascii"),
            callback.authority.encode("ascii"),
            push.headers,
            self._fields,
            signed,
        )
        request = OutboundRequest(head, push.body)
        return await self._outbound.exchange(callback, request, timeout=timeout, slot=slot)

    async def close(self) -> None:
        """End everything under way; returns when no socket is left."""
        await self._outbound.close()


class _NotAnsweredError(Exception):
    """How the agent says to treq what is no response."""

    def __init__(self, outcome: Unanswered | Throttled) -> None:
        self.outcome = outcome
        super().__init__(outcome)


class _ExactURL(EncodedURL):
    """A URL that treq must not improve: hyperlink drops a bare ``?`` and refuses IPv6 (F4, W7)."""

    def __init__(self, exact: str) -> None:
        super().__init__(scheme="https")
        self._exact = exact

    def to_uri(self) -> "_ExactURL":
        return self

    def to_text(self, with_password: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002
        return self._exact


@implementer(IAgent)
class _Agent:
    """The way out, for one GET of treq's.

    Attributes:
        address: Who answered.
        fields: What they said beside status and body.
    """

    def __init__(self, exchange: _Exchange, own_fields: bytes) -> None:
        self._exchange = exchange
        self._own_fields = own_fields
        self.address = ""
        self.fields: dict[bytes, bytes] = {}

    def request(
        self,
        method: bytes,
        uri: bytes,
        headers: Headers | None = None,  # noqa: ARG002 - replaced by the hub's own
        bodyProducer: IBodyProducer | None = None,  # noqa: ARG002, N803 - a GET has none
    ) -> Deferred[IResponse]:
        """See IAgent; fails with _NotAnsweredError."""
        return Deferred.fromCoroutine(self._request(method, rebuilt(uri.decode("ascii"))))

    async def _request(self, method: bytes, callback: Callback) -> IResponse:
        head = b"%b %b HTTP/1.1\r\nHost: %b\r\n%bConnection: close\r\n\r\n" % (
            method,
            callback.target.encode("ascii"),
            callback.authority.encode("ascii"),
            self._own_fields,
        )
        outcome = await self._exchange(
            callback, OutboundRequest(head, max_answer=MAX_CHALLENGE_BODY)
        )
        if not isinstance(outcome, Answered):
            raise _NotAnsweredError(outcome)
        self.address = outcome.address
        self.fields.update(outcome.headers)
        return BufferedResponse(outcome)


@implementer(IResponse)
class BufferedResponse:
    """An answer that has been read already, as treq wants to see it."""

    version = (b"HTTP", 1, 1)
    phrase = b""
    request: IClientRequest | None = None
    previousResponse: IResponse | None = None

    def __init__(self, answered: Answered) -> None:
        self.code = answered.status
        self.headers = Headers()
        self.length = len(answered.body)
        self._body = answered.body

    def deliverBody(self, protocol: IProtocol) -> None:
        """See IResponse; all of it at once."""
        protocol.dataReceived(self._body)
        protocol.connectionLost(Failure(ResponseDone()))

    def setPreviousResponse(self, response: IResponse) -> None:
        """See IResponse."""
        self.previousResponse = response


def _no_cookies() -> IndexableCookieJar:
    """A jar that takes nothing."""
    return IndexableCookieJar(DefaultCookiePolicy(allowed_domains=()))
