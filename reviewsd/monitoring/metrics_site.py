"""The site of ``metrics.listen``, which serves ``/metrics`` and nothing else (O9).

It has no authentication, so it belongs on loopback, where Prometheus or its agent connects.
"""

from collections.abc import Awaitable, Callable

from klein import Klein
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.server import Request, Site
from werkzeug.exceptions import HTTPException

from reviewsd.runtime.bodiless_site import BodilessSite

PATH = "/metrics"

MetricsText = Callable[[], Awaitable[bytes]]
"""Renders all metrics in Prometheus's text format."""


class MetricsSite:
    """The Klein app with the one route.

    Args:
        metrics: Renders the metrics.
        content_type: The media type of the metrics.
    """

    _app = Klein()
    _log = Logger()

    def __init__(self, metrics: MetricsText, content_type: str) -> None:
        self._metrics = metrics
        self._content_type = content_type.encode()

    def site(self) -> Site:
        """Return the protocol factory for the listener."""
        return BodilessSite(self._app.resource())

    @_app.route(PATH, methods=["GET"])
    async def text(self, request: Request) -> bytes:
        """Return the metrics."""
        return self._answer(request, 200, await self._metrics(), self._content_type)

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Answer another path or method, or an exception."""
        error = failure.value
        if isinstance(error, HTTPException) and error.code is not None:
            return self._answer(request, error.code, b"Here is nothing but GET /metrics.\n")
        self._log.failure("answering {path} failed", failure, path=PATH)
        return self._answer(request, 500, b"The log has the reason.\n")

    def _answer(
        self, request: Request, status: int, body: bytes, content_type: bytes = b"text/plain"
    ) -> bytes:
        request.setResponseCode(status)
        request.setHeader(b"Content-Type", content_type)
        request.setHeader(b"Content-Length", b"%d" % len(body))
        request.setHeader(b"Cache-Control", b"no-store")
        request.setHeader(b"Server", b"reviewsd")
        return body
