"""One request on its way to its answer.

A connection has one request under way at a time, so it has one exchange, which goes from request to
request. The answer comes at once, or later; either way the connection is given it.
"""

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.http1 import problems
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response

if TYPE_CHECKING:
    from reviewsd.server.server import PublicServer

Give = Callable[[Response, bool], None]
"""Sends an answer; without its body where the second argument says so, as to HEAD."""

_READS = frozenset((b"GET", b"HEAD"))


class Exchange:
    """What is asked on a connection, and what is answered.

    Args:
        server: Whose routes answer.
    """

    _log = Logger()

    def __init__(self, server: "PublicServer") -> None:
        self._site = server
        self._give: Give | None = None  # while there is a request under way, and somebody waits
        self._request: Request | None = None
        self._began = 0.0  # when it was whole, by perf_counter
        self._waiting: Deferred[Response] | None = None  # under way
        self._known_host: bytes | None = None  # under which the client has been served before
        self.same: bytes | None = None
        """The last request, byte for byte, if it was a read that came alone."""
        self.said: Response | None = None
        """How it was answered, if that was at once."""

    def ask(self, request: Request, give: Give) -> None:
        """Have a whole request answered.

        Args:
            request: The request.
            give: Is called with the answer, now or later; never after :meth:`lost`.
        """
        site = self._site
        self.forget()
        self._give = give
        self._request = request
        self._began = perf_counter()
        if request.authority != self._known_host:
            if site.serves(request):
                self._known_host = request.authority
            elif (refusal := site.misdirected(request)) is not None:
                self._answer(refusal)
                return
        answer = site.respond(request)
        if isinstance(answer, Response):
            if request.method in _READS and answer.reserve is None:
                self.said = answer
            self._answer(answer)
        else:
            self._waiting = answer
            answer.addCallbacks(self._answer, self._failed)

    def repeat(self, give: Give) -> None:
        """Answer the last request, which has come again, as it was answered then."""
        assert self.said is not None  # noqa: S101  there was one
        self._give = give
        self._began = perf_counter()
        self._answer(self.said)

    def forget(self) -> None:
        """What was answered is not true any more."""
        self.same = self.said = None

    def let_go(self) -> None:
        """Keep nothing of the last request."""
        self.forget()
        self._request = self._known_host = None

    def lost(self) -> None:
        """The client has left; nobody waits for the answer any more."""
        self._give = None
        if self._waiting is not None:
            self._waiting.cancel()

    def _answer(self, response: Response) -> None:
        self._waiting, give, request = None, self._give, self._request
        if give is not None and request is not None:  # the client has not left meanwhile
            self._give = None
            self._site.traffic.answered(request, response.status, self._began)
            give(response, request.method == b"HEAD")

    def _failed(self, failure: Failure) -> None:
        if self._give is not None or not failure.check(CancelledError):  # the client has left
            self._log.failure("answering failed", failure)
            self._answer(self._site.refusal(problems.INTERNAL))
