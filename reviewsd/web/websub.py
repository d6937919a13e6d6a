"""The hub's address: requests of subscribers, answered as plain text (contract 5).

A route is cancelled when its client leaves, and the commit of a request must not be: so the hub's work is a task
of its own, and the route waits for it. Pages may not read the responses, so they have no CORS headers (S12).
"""

from typing import Final

from twisted.internet.defer import CancelledError
from twisted.logger import Logger

from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import BodyRule
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.transactions import StoreError
from reviewsd.web.app import PublicApp
from reviewsd.web.budgets import ClientNetworks
from reviewsd.websub.requests import HubRequests, HubResponse

METHODS = ("GET", "HEAD", "OPTIONS", "POST")

UNSTORED = HubResponse(
    status=503,
    text="the hub cannot store requests at the moment; please try again later",
    retry_after=60,
)
FAILED = HubResponse(status=500, text="the hub failed; its log says why")


class HubRoute:
    """Answers at the hub's address; ``tasks`` own the hub's work."""

    app: Final = PublicApp()
    _log = Logger()

    def __init__(
        self, hub: HubRequests, responses: Responses, tasks: TaskSet, networks: ClientNetworks
    ) -> None:
        self._hub, self._responses = hub, responses
        self._tasks, self._networks = tasks, networks

    @app.route(urls.HUB, methods=None, body=BodyRule.FORM, cost=0)
    async def answer(self, request: Request) -> Response:
        """Answer a request of any known method (W24)."""
        match request.method:
            case b"POST":
                answer = self._tasks.run_detached("answer a hub request", self._ask(request))
                return self._reply(await answer)
            case b"GET" | b"HEAD":
                return self._reply(HubResponse(status=200, text=self._hub.help_text))
            case b"OPTIONS":
                return self._responses.options(METHODS, cors=False)
        text = "this is asked with POST; GET explains how"
        return self._responses.plain(405, text, [(b"Allow", ", ".join(METHODS).encode())])

    async def _ask(self, request: Request) -> HubResponse:
        """Return the hub's response; runs to its end if the client leaves."""
        types = request.lines(b"content-type")
        media_type = types[0] if len(types) == 1 else None
        try:
            return await self._hub.receive(request.body, media_type, self._networks.of(request))
        except CancelledError:
            raise
        except StoreError as error:
            self._log.warn("a request to the hub was not stored: {error}", error=error)
            return UNSTORED
        except Exception:  # noqa: BLE001 - logged with its traceback; the client must get an answer
            self._log.failure("answering a request to the hub failed")
            return FAILED

    def _reply(self, answer: HubResponse) -> Response:
        wait = answer.retry_after
        extra = () if wait is None else ((b"Retry-After", b"%d" % wait),)
        return self._responses.plain(answer.status, answer.text, extra)
