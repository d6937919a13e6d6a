"""The public site: every read of the specification, the hub, and MCP (seed 4, contract 2 to 5).

    GET -> PublicRoot (is it a path, is it a method?) -> Klein -> PublicSite -> Replies
    POST /mcp -> PublicRoot -> McpRoute -> Replies

A route looks up what was rendered at publication, or joins slices of it; it encodes no JSON. It
reads ``snapshots.current`` once, so an answer never mixes two states of the data.
"""

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote_to_bytes

from klein import Klein
from twisted.internet.defer import CancelledError
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import NOT_DONE_YET, Request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from reviewsd.domain.parameters import InvalidParametersError, read_date, read_query
from reviewsd.formats import documents, paths, problems
from reviewsd.formats.representation import Representation
from reviewsd.stores.snapshots import SnapshotError, Snapshots
from reviewsd.web.channel import ASTERISK
from reviewsd.web.hub import HubRoute
from reviewsd.web.mcp import McpRoute
from reviewsd.web.replies import Body, Replies
from reviewsd.web.steps import in_steps, promptly

METHODS = frozenset(b"GET HEAD OPTIONS POST PUT PATCH DELETE TRACE QUERY".split())
"""The known ones; others are 501, these 405 where they are not allowed (S7)."""

JSON = b"application/json"

_MCP = paths.MCP.encode()


class PublicSite:
    """Klein's routes over the current snapshot.

    Args:
        snapshots: Where the data is.
        replies: How answers leave.
        clock: To search in steps.
        hub: What answers at the hub's address; without it there is nothing.
        mcp: The same for MCP.
    """

    _app = Klein()
    _log = Logger()

    def __init__(
        self,
        snapshots: Snapshots,
        replies: Replies,
        clock: IReactorTime,
        hub: HubRoute | None = None,
        mcp: McpRoute | None = None,
    ) -> None:
        self._snapshots = snapshots
        self._replies = replies
        self._clock = clock
        self._hub = hub
        self._mcp = mcp

    def resource(self) -> IResource:
        """The root resource of the site."""
        return PublicRoot(self._app.resource(), self._replies, self._mcp, self._problem)

    @_app.route(paths.REVIEWS, methods=["GET"])
    @_app.route(paths.INSIGHTS, methods=["GET"])
    @_app.route(paths.JSON_FEED, methods=["GET"])
    @_app.route(paths.ATOM_FEED, methods=["GET"])
    @_app.route(paths.OPENAPI, methods=["GET"])
    def document(self, request: Request) -> Body:
        """A resource rendered at publication."""
        path = unquote_to_bytes(request.path).decode()
        resource = self._snapshots.current.documents.get(path)
        if resource is None:
            return self._replies.problem(request, problems.NOT_PUBLISHED)
        return self._replies.rendered(request, resource, self._replies.link(path))

    @_app.route(paths.SEARCH, methods=["GET"])
    async def search(self, request: Request) -> bytes:
        """The reviews that match all filters, a page of them."""
        _, _, given = request.uri.partition(b"?")
        query = read_query(given)
        snapshot = self._snapshots.current
        hits = await in_steps(snapshot.search(query), self._clock)
        following = snapshot.cursor(hits)
        records = [snapshot.record(position) for position in hits.positions]
        body = documents.search_result(
            hits.matched, records, None if following is None else following.encode()
        )
        after = None
        if following is not None:
            after = f"{paths.SEARCH}?{replace(query, cursor=following).canonical()}"
        found = Representation(
            parts=(body,), media_type=JSON, etag=_tag(snapshot.revision, query.canonical())
        )
        answer = self._replies.data(request, found, self._replies.link(following=after))
        return answer if isinstance(answer, bytes) else await answer

    @_app.route(f"{paths.SINCE}<date>", methods=["GET"])
    def since(self, request: Request, date: str) -> Body:
        """All reviews dated on or after a day."""
        day = read_date(date)
        snapshot = self._snapshots.current
        count, records = snapshot.since(day)
        dataset = snapshot.documents[paths.REVIEWS].identity
        found = Representation(
            parts=documents.since_result(day, count, records),
            media_type=JSON,
            etag=_tag(snapshot.revision, f"since {day}"),
            last_modified=dataset.last_modified,
        )
        return self._replies.data(request, found, self._replies.link())

    @_app.route(paths.HUB)
    async def hub(self, request: Request) -> bytes:
        """All methods of the hub's address, which is no read."""
        if self._hub is None:
            raise NotFound
        return await self._hub.answer(request)

    @_app.route(paths.MCP)
    async def mcp(self, request: Request) -> bytes:
        """All methods of the MCP endpoint."""
        if self._mcp is None:
            raise NotFound
        return await self._mcp.answer(request)

    @_app.route(paths.HEALTH, methods=["GET"])
    def health(self, request: Request) -> Body:
        """The reactor answers."""
        return self._replies.unstored(request, b'{"status":"ok"}')

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> Body:
        """Every error of a route."""
        return self._problem(request, failure)

    def _problem(self, request: Request, failure: Failure) -> Body:
        """An error as the status it means."""
        replies = self._replies
        match failure.value:
            case InvalidParametersError(issues=issues):
                return replies.invalid(request, issues)
            case MethodNotAllowed(valid_methods=methods) if request.method == b"OPTIONS":
                return replies.options(request, sorted({*(methods or ()), "OPTIONS"}))
            case MethodNotAllowed(valid_methods=methods):
                allow = ", ".join(sorted({*(methods or ()), "OPTIONS"}))
                extra = ((b"Allow", allow.encode()),)
                return replies.problem(request, problems.NOT_ALLOWED, extra)
            case HTTPException():
                return replies.problem(request, problems.NOT_FOUND)
            case SnapshotError():
                extra = ((b"Retry-After", b"5"),)
                return replies.problem(request, problems.UNAVAILABLE, extra)
        self._log.failure("answering {path} failed", failure, path=request.path)
        return replies.problem(request, problems.INTERNAL)


class PublicRoot(Resource):
    """Turns away what is no path or no method, before Klein would answer it in HTML (F18, S8).

    MCP is answered without Klein, whose way to a route costs more than most calls do; Klein has the
    route all the same, for other spellings of its path.

    Args:
        routes: Klein's resource.
        replies: How answers leave.
        mcp: What answers at the address of MCP.
        problem: The answer to a route's error.
    """

    isLeaf = True

    def __init__(
        self,
        routes: IResource,
        replies: Replies,
        mcp: McpRoute | None,
        problem: Callable[[Request, Failure], Body],
    ) -> None:
        super().__init__()
        self._routes = routes
        self._replies = replies
        self._mcp = mcp
        self._problem = problem

    def render(self, request: Request) -> int:
        """Answer, or let Klein answer."""
        refused = self._refused(request)
        if refused is not None:
            assert isinstance(refused, bytes)  # noqa: S101  an error is short
            _send(refused, request)
        elif self._mcp is not None and request.path == _MCP:
            self._carry(request, self._mcp)
        else:
            return int(self._routes.render(request))
        return NOT_DONE_YET

    def _carry(self, request: Request, route: McpRoute) -> None:
        """Send what a route answers, once it does; a client that leaves cancels it."""
        try:
            answer: Body = promptly(route.answer(request))
        except Exception:  # noqa: BLE001 - logged with its traceback; the client reads of a problem
            answer = self._problem(request, Failure())
        if isinstance(answer, bytes):
            _send(answer, request)
            return
        request.notifyFinish().addErrback(lambda _: answer.cancel())
        answer.addErrback(self._failed, request)
        answer.addCallback(_send, request)

    def _failed(self, failure: Failure, request: Request) -> Body:
        if request.channel is not None:
            return self._problem(request, failure)
        failure.trap(CancelledError)
        return b""

    def _refused(self, request: Request) -> Body | None:
        if request.method not in METHODS:
            return self._replies.problem(request, problems.NOT_IMPLEMENTED)
        path = request.path
        if path == ASTERISK and request.method == b"OPTIONS":
            return self._replies.options(request, ("GET", "HEAD", "OPTIONS"))
        if b"%" in path and not _well_escaped(path):
            return self._replies.problem(request, problems.BAD_ESCAPE)
        if _NOT_EXACT.search(path) is not None:
            return self._replies.problem(request, problems.NOT_FOUND)
        return None


def _send(body: bytes, request: Request) -> None:
    if request.channel is not None:  # None: the client has left
        request.write(body)
        request.finish()


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


def _tag(revision: str, question: str) -> bytes:
    """The entity tag of a computed answer: it depends on the data and the question alone."""
    digest = hashlib.sha256(f"{revision} {question}".encode()).digest()
    return b'"%s"' % urlsafe_b64encode(digest)[:22]
