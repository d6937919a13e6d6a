"""What is asked of the admin socket all the time: ``/v1/health``, ``ready``, ``metrics`` (O9, O10)."""

import re

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from twisted.web.server import Request

from reviewsd.admin.responses import AdminReplies
from reviewsd.monitoring.metrics_site import MetricsText
from reviewsd.monitoring.readiness import Readiness

PATHS = re.compile(rb"/v1/(health|ready|metrics)")
"""What is answered here."""


class ProbeRoutes:
    """Klein's routes for probes.

    Args:
        readiness: Whether the service should be sent clients.
        metrics: How much there is of everything.
        content_type: Of the metrics.
        version: Of the program.
    """

    _app = Klein()

    def __init__(
        self, readiness: Readiness, metrics: MetricsText, content_type: str, version: str
    ) -> None:
        self._readiness = readiness
        self._metrics = metrics
        self._content_type = content_type.encode()
        self._replies = AdminReplies(version)

    def resource(self) -> IResource:
        """The routes, all of ``PATHS``."""
        return self._app.resource()

    @_app.route("/v1/health", methods=["GET"])
    def health(self, request: Request) -> bytes:
        """The reactor answers."""
        return self._replies.value(request, {"status": "ok"})

    @_app.route("/v1/ready", methods=["GET"])
    def ready(self, request: Request) -> bytes:
        """Whether the service should be sent clients; 503 when not."""
        status, document = self._readiness.answer()
        return self._replies.document(request, document, status=status)

    @_app.route("/v1/metrics", methods=["GET"])
    async def metrics(self, request: Request) -> bytes:
        """How much there is of everything."""
        return self._replies.document(request, await self._metrics(), self._content_type)

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)
