"""The site of ``metrics.listen``, which serves ``/metrics`` and nothing else (O9).

It has no authentication, so it belongs on loopback, where Prometheus or its agent connects. Its HTTP
server, whose requests have no bodies, is that of the admin site as well.
"""

from collections.abc import Awaitable, Callable

from klein import Klein
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web import server
from werkzeug.exceptions import HTTPException

from reviewsd.monitoring.metrics import CONTENT_TYPE

_log = Logger()


class _BodilessRequest(server.Request):
    """A request that drops its body.

    Twisted would store a body of any length, and parse a form in the reactor: 1.7 s for 10 MB.
    """

    has_body = False

    def handleContentChunk(self, data: bytes) -> None:
        """Drop a part of the body."""
        self.has_body = self.has_body or bool(data)


class BodilessSite(server.Site):
    """A site without request bodies, tracebacks in responses, and access log."""

    displayTracebacks = False
    requestFactory = _BodilessRequest

    def log(self, request: object) -> None:
        """Log nothing: changes have an audit line."""


def metrics_site(text: Callable[[], Awaitable[bytes]]) -> BodilessSite:
    """Return the site with the one route, which answers with ``text``."""
    app = Klein()

    @app.route("/metrics", methods=["GET"])
    async def metrics(request: server.Request) -> bytes:
        return _respond(request, 200, await text(), CONTENT_TYPE)

    @app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def answer_error(request: server.Request, failure: Failure) -> bytes:
        error = failure.value
        if isinstance(error, HTTPException) and error.code is not None:
            return _respond(request, error.code, b"Here is nothing but GET /metrics.\n")
        _log.failure("answering /metrics failed", failure)
        return _respond(request, 500, b"The log has the reason.\n")

    return BodilessSite(app.resource())


def _respond(
    request: server.Request, status: int, body: bytes, content_type: bytes = b"text/plain"
) -> bytes:
    request.setResponseCode(status)
    request.setHeader(b"Content-Type", content_type)
    request.setHeader(b"Content-Length", b"%d" % len(body))
    request.setHeader(b"Cache-Control", b"no-store")
    request.setHeader(b"Server", b"reviewsd")
    return body
