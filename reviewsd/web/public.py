"""The public site's routes: every read of the specification, the hub, and MCP (seed 4, contract 2-5).

    Channel -> BoundedRequest -> PublicRoot (is it a path, is it a method?) -> Klein -> PublicSite

Klein finds the route; what the route answers is made in ``reads``, ``hub`` and ``mcp``, and put on the
request, which its channel sends. ``lane`` is the short way to the same answers.
"""

import re
from urllib.parse import unquote_to_bytes

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import NOT_DONE_YET
from werkzeug.exceptions import NotFound

from reviewsd.http1 import urls as paths, problems
from reviewsd.http1.request import Asked
from reviewsd.http1.head import ASTERISK
from reviewsd.web.websub import HubRoute
from reviewsd.web.mcp import McpRoute
from reviewsd.monitoring.readiness import Readiness
from reviewsd.web.reads import Reads
from reviewsd.http1.responses import Replies, Reply
from reviewsd.web.request import PublicRequest

METHODS = frozenset(b"GET HEAD OPTIONS POST PUT PATCH DELETE TRACE QUERY".split())
"""The known ones; others are 501, these 405 where they are not allowed (S7)."""


class PublicSite:
    """Klein's routes.

    Args:
        reads: Answers reads, and says what errors mean.
        replies: What answers are made of.
        hub: What answers at the hub's address; without it there is nothing.
        mcp: The same for MCP.
        readiness: Whether the service should be sent clients, where everybody may know.
    """

    _app = Klein()

    def __init__(
        self,
        reads: Reads,
        replies: Replies,
        hub: HubRoute | None = None,
        mcp: McpRoute | None = None,
        readiness: Readiness | None = None,
    ) -> None:
        self._reads = reads
        self._replies = replies
        self._hub = hub
        self._mcp = mcp
        self._readiness = readiness

    def resource(self) -> IResource:
        """The root resource of the site."""
        return PublicRoot(self._app.resource(), self._replies)

    @_app.route(paths.REVIEWS, methods=["GET"])
    @_app.route(paths.INSIGHTS, methods=["GET"])
    @_app.route(paths.JSON_FEED, methods=["GET"])
    @_app.route(paths.ATOM_FEED, methods=["GET"])
    @_app.route(paths.OPENAPI, methods=["GET"])
    def document(self, request: PublicRequest) -> bytes:
        """A resource rendered at publication."""
        path = unquote_to_bytes(request.asked.path).decode()
        return request.put(self._reads.document(request.asked, path))

    @_app.route(paths.SEARCH, methods=["GET"])
    async def search(self, request: PublicRequest) -> bytes:
        """The reviews that match all filters, a page of them."""
        answer = self._reads.search(request.asked)
        return request.put(answer if isinstance(answer, Reply) else await answer)

    @_app.route(f"{paths.SINCE}<date>", methods=["GET"])
    def since(self, request: PublicRequest, date: str) -> bytes:
        """All reviews dated on or after a day."""
        return request.put(self._reads.since(request.asked, date))

    @_app.route(paths.HUB)
    async def hub(self, request: PublicRequest) -> bytes:
        """All methods of the hub's address, which is no read."""
        if self._hub is None:
            raise NotFound
        return request.put(await self._hub.answer(request.asked))

    @_app.route(paths.MCP)
    async def mcp(self, request: PublicRequest) -> bytes:
        """All methods of the MCP endpoint."""
        if self._mcp is None:
            raise NotFound
        answer = self._mcp.answer(request.asked)
        return request.put(answer if isinstance(answer, Reply) else await answer)

    @_app.route(paths.HEALTH, methods=["GET"])
    def health(self, request: PublicRequest) -> bytes:
        """The reactor answers."""
        return request.put(self._reads.health())

    @_app.route(paths.READY, methods=["GET"])
    def ready(self, request: PublicRequest) -> bytes:
        """Whether the service should be sent clients (``server.readyz``)."""
        if self._readiness is None:
            raise NotFound
        status, document = self._readiness.answer()
        return request.put(self._replies.unstored(document, status))

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: PublicRequest, failure: Failure) -> bytes:
        """Every error of a route."""
        return request.put(self._reads.failed(request.asked, failure))


class PublicRoot(Resource):
    """Turns away what is no path or no method, before Klein would answer it in HTML (F18, S8).

    Args:
        routes: Klein's resource.
        replies: What answers are made of.
    """

    isLeaf = True

    def __init__(self, routes: IResource, replies: Replies) -> None:
        super().__init__()
        self._routes = routes
        self._replies = replies

    def render(self, request: PublicRequest) -> int:
        """Answer, or let Klein answer."""
        refused = self._refused(request.asked)
        if refused is None:
            return int(self._routes.render(request))
        request.put(refused)
        request.finish()
        return NOT_DONE_YET

    def _refused(self, asked: Asked) -> Reply | None:
        if asked.method not in METHODS:
            return self._replies.problem(asked, problems.NOT_IMPLEMENTED)
        path = asked.path
        if path == ASTERISK and asked.method == b"OPTIONS":
            return self._replies.options(("GET", "HEAD", "OPTIONS"))
        if b"%" in path and not _well_escaped(path):
            return self._replies.problem(asked, problems.BAD_ESCAPE)
        if _NOT_EXACT.search(path) is not None:
            return self._replies.problem(asked, problems.NOT_FOUND)
        return None


_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_NOT_EXACT = re.compile(rb"//|%2[fF]|/(\.|%2[eE]){1,2}(/|\Z)")


def _well_escaped(path: bytes) -> bool:
    if _BROKEN_ESCAPE.search(path) is not None:
        return False
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return False
    return True
