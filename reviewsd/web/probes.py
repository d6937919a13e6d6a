"""Health and readiness, for load balancers and monitors."""

from typing import Final

from werkzeug.exceptions import NotFound

from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.monitoring.health import Readiness
from reviewsd.web.app import PublicApp


class Probes:
    """Answers probes; readiness is None if ``server.readyz`` is off."""

    app: Final = PublicApp()

    def __init__(self, responses: Responses, readiness: Readiness | None = None) -> None:
        self._responses, self._readiness = responses, readiness

    @app.route(urls.HEALTH, any_host=True, cost=0)
    def health(self, _request: Request) -> Response:
        """Answer that the reactor runs."""
        return self._responses.no_store_json(b'{"status":"ok"}')

    @app.route(urls.READY, any_host=True, cost=0)
    def ready(self, _request: Request) -> Response:
        """Answer whether the service is ready for requests."""
        if self._readiness is None:
            raise NotFound
        status, document = self._readiness.answer()
        return self._responses.no_store_json(document, status)
