"""The public site: Klein's routes, made of the table (``http1.routes``).

``PublicRoot`` turns away what is no path or no method; Klein finds the route, its answerer answers, and
the answer is put on the request, which its exchange sends.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import NOT_DONE_YET
from werkzeug.exceptions import NotFound

from reviewsd.http1 import problems
from reviewsd.http1.head import ASTERISK
from reviewsd.http1.request import METHODS, Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import ROUTES, route_of, without_slash
from reviewsd.web.answerers import Answerer
from reviewsd.web.klein_request import PublicRequest
from reviewsd.web.reads import Reads


class PublicSite:
    """Klein's routes.

    Args:
        reads: Says what errors mean.
        answers: What answers each route.
    """

    def __init__(self, reads: Reads, answers: Mapping[str, Answerer]) -> None:
        self._reads = reads
        self._klein = Klein()
        self._klein.url_map.merge_slashes = False  # an id may have two in a row
        for route in ROUTES:
            endpoint = self._endpoint(answers.get(route.answerer), whole=route.whole)
            for path in route.spellings:
                rule = path.replace("{", "<path:" if route.whole else "<").replace("}", ">")
                self._klein.route(rule, methods=route.methods, endpoint=path)(endpoint)
        self._klein.handle_errors(Exception)(self._failed)  # type: ignore[arg-type]  # IRequest

    def resource(self) -> IResource:
        """The root resource of the site."""
        return PublicRoot(self._klein.resource(), self._reads.responses)

    @staticmethod
    def _endpoint(
        answerer: Answerer | None, *, whole: bool
    ) -> Callable[..., Coroutine[Any, Any, bytes]]:
        async def endpoint(request: PublicRequest, **values: str) -> bytes:
            if answerer is None:
                raise NotFound
            answer = answerer(request.parsed, **({} if whole else values))
            return request.put(answer if isinstance(answer, Response) else await answer)

        return endpoint

    def _failed(self, request: PublicRequest, failure: Failure) -> bytes:
        """Every error of a route."""
        return request.put(self._reads.failed(request.parsed, failure))


class PublicRoot(Resource):
    """Turns away what is no path or no method, before Klein would answer it in HTML (F18, S8).

    Args:
        routes: Klein's resource.
        replies: What answers are made of.
    """

    isLeaf = True

    def __init__(self, routes: IResource, replies: Responses) -> None:
        super().__init__()
        self._routes = routes
        self._replies = replies

    def render(self, request: PublicRequest) -> int:
        """Answer, or let Klein answer."""
        refused = self._refused(request.parsed)
        if refused is None:
            return int(self._routes.render(request))
        request.put(refused)
        request.finish()
        return NOT_DONE_YET

    def _refused(self, request: Request) -> Response | None:
        if request.method not in METHODS:
            return self._replies.problem(request, problems.NOT_IMPLEMENTED)
        path = request.path
        if path == ASTERISK and request.method == b"OPTIONS":
            return self._replies.options(("GET", "HEAD", "OPTIONS"))
        if b"%" in path and not _well_escaped(path):
            return self._replies.problem(request, problems.BAD_ESCAPE)
        route = route_of(path)
        if request.method in _REDIRECTED and (address := without_slash(path)) is not None:
            return self._replies.moved(address, request.query)
        if route is not None and route.whole:
            exact = path.count(b"/") == route.prefix.count("/")
        else:
            exact = _NOT_EXACT.search(path) is None
        return None if exact else self._replies.problem(request, problems.NOT_FOUND)


_REDIRECTED = frozenset((b"GET", b"HEAD"))
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
