"""The routes that monitoring polls: ``/v1/health``, ``ready``, ``metrics`` (O9, O10)."""

from collections.abc import Sequence

from twisted.web.server import Request

from reviewsd.admin.app import Route
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

    @property
    def routes(self) -> Sequence[Route]:
        """The routes."""
        return (
            ("GET", "/v1/health", self.health),
            ("GET", "/v1/ready", self.ready),
            ("GET", "/v1/metrics", self.metrics),
        )

    def health(self, request: Request) -> bytes:
        """Return that the reactor answers."""
        return respond(request, {"status": "ok"})

    def ready(self, request: Request) -> bytes:
        """Return whether the service should be sent clients; 503 if not."""
        status, document = self._readiness.answer()
        return respond_document(request, document, status=status)

    async def metrics(self, request: Request) -> bytes:
        """Return all metrics."""
        return respond_document(request, await self._metrics(), self._content_type)
