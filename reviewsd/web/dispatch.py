"""From a request to what answers it: the quick look-up, then Klein (``server.fast_lane``).

``Dispatcher.respond`` is all that a connection knows of the site. The look-up is an index over Klein's
hottest rows and nothing more: the same methods answer, and whatever is not exactly in it, by method or
spelling, takes the long way. ``tests/unit/web/test_dispatch.py`` holds the two together, byte for byte.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure
from twisted.web.resource import IResource

from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import ROUTES
from reviewsd.web.answerers import Answerer
from reviewsd.web.klein_request import KleinExchange
from reviewsd.web.reads import Answer, Reads

QuickLookup = Callable[[Request], Answer | None]
"""Answers what it knows; None: let Klein find the route."""


class Dispatcher:
    """Finds what answers a request.

    Args:
        site: Klein's root resource, which knows all routes.
        responses: What answers are made of.
        lookup: The quick look-up, where there is one.
    """

    def __init__(
        self, site: IResource, responses: Responses, lookup: QuickLookup | None = None
    ) -> None:
        self._site = site
        self._responses = responses
        self._lookup = lookup

    def respond(self, request: Request) -> Response | Deferred[Response]:
        """Answer a request: at once where the look-up can, else later; cancelling stops the work."""
        answer = None if self._lookup is None else self._lookup(request)
        if answer is not None:
            return answer
        return KleinExchange(request, self._responses).render(self._site)


def quick_lookup(reads: Reads, answers: Mapping[str, Answerer]) -> QuickLookup:
    """The quick look-up of a site.

    Args:
        reads: Says what errors mean.
        answers: What answers each route.
    """
    quick = [route for route in ROUTES if route.quick and route.answerer in answers]
    fixed = {route.path.encode(): answers[route.answerer] for route in quick if not route.open}
    opened = [
        (route.prefix.encode(), route.suffix.encode(), route.open, answers[route.answerer])
        for route in quick
        if route.open and not route.whole
    ]
    whole = [(route.prefix.encode(), answers[route.answerer]) for route in quick if route.whole]
    mcp = answers.get("mcp")

    def lookup(request: Request) -> Answer | None:
        method, path = request.method, request.path
        if method == b"GET" or method == b"HEAD":  # noqa: PLR1714  twice as fast as a set
            answerer = fixed.get(path) or _find(opened, path) or _find_whole(whole, path)
        elif method == b"POST" and path == _MCP:
            answerer = mcp
        else:
            return None
        if answerer is None:
            return None
        try:
            answer = answerer(request)
        except Exception:  # noqa: BLE001 - logged with its traceback, where it is no refusal
            return reads.failed(request, Failure())
        if isinstance(answer, Deferred):
            answer.addErrback(_failed, reads, request)
        return answer

    return lookup


_MCP = urls.MCP.encode()


def _find(opened: Sequence[tuple[bytes, bytes, str, Answerer]], path: bytes) -> Answerer | None:
    """The answerer of an address that ends in a segment of its own."""
    for prefix, suffix, name, answerer in opened:
        if not (path.startswith(prefix) and path.endswith(suffix)):
            continue
        value = path[len(prefix) : len(path) - len(suffix)]
        if value and b"/" not in value and b"%" not in value:
            return partial(answerer, **{name: value.decode("latin-1")})
    return None


def _find_whole(whole: Sequence[tuple[bytes, Answerer]], path: bytes) -> Answerer | None:
    """The answerer of an address that ends in a segment it reads itself, where that is spelled as usual."""
    for prefix, answerer in whole:
        if path.startswith(prefix) and urls.usual_segment(path[len(prefix) :]):
            return answerer
    return None


def _failed(failure: Failure, reads: Reads, request: Request) -> Response:
    if failure.check(CancelledError):  # the client has left
        failure.raiseException()
    return reads.failed(request, failure)
