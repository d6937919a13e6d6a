"""A site of its own for ``/metrics``, where ``metrics.listen`` wants one (O9).

Nobody is asked who he is: it belongs on loopback, where Prometheus or its agent looks.
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
"""Makes all metrics of the service, in Prometheus's text format."""


class MetricsSite:
    """Klein's one route.

    Args:
        metrics: Makes the text.
        content_type: Of the text.
    """

    _app = Klein()
    _log = Logger()

    def __init__(self, metrics: MetricsText, content_type: str) -> None:
        self._metrics = metrics
        self._content_type = content_type.encode()

    def site(self) -> Site:
        """The factory for the listener."""
        return BodilessSite(self._app.resource())

    @_app.route(PATH, methods=["GET"])
    async def text(self, request: Request) -> bytes:
        """How much there is of everything."""
        return self._answer(request, 200, await self._metrics(), self._content_type)

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Another path or method, or a bug."""
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
