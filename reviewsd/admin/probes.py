"""The routes that monitoring polls: ``/v1/health``, ``ready``, ``metrics`` (O9, O10)."""

from twisted.web.server import Request

from reviewsd.admin.app import route
from reviewsd.admin.responses import respond, respond_document
from reviewsd.monitoring.metrics_site import MetricsText
from reviewsd.monitoring.readiness import Readiness


class ProbeRoutes:
    """The routes for probes.

    Args:
        readiness: Says whether the service should be sent clients.
        metrics: Renders the metrics.
        content_type: The media type of the metrics.
    """

    def __init__(
        self,
        readiness: Readiness,
        metrics: MetricsText,
        content_type: str,
    ) -> None:
        self._readiness = readiness
        self._metrics = metrics
        self._content_type = content_type.encode()

    @route("GET", "/v1/health")
    def health(self, request: Request) -> bytes:
        """Return that the reactor answers."""
        return respond(request, {"status": "ok"})

    @route("GET", "/v1/ready")
    def ready(self, request: Request) -> bytes:
        """Return whether the service should be sent clients; 503 if not."""
        status, document = self._readiness.answer()
        return respond_document(request, document, status=status)

    @route("GET", "/v1/metrics")
    async def metrics(self, request: Request) -> bytes:
        """Return all metrics."""
        return respond_document(request, await self._metrics(), self._content_type)
