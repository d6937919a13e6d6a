"""The hub's address: requests of subscribers, answered as plain text (contract 5).

The hub commits a request before it answers. A route is cancelled when its client leaves, which must not stop
the commit: so the hub's work is a task of its own, and the route only waits for it. Responses have no CORS
headers, as this is no read (S12).
"""

from typing import Final, Protocol

from twisted.internet.defer import CancelledError
from twisted.logger import Logger

from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import BodyRule
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.transactions import StoreError
from reviewsd.web.app import PublicApp
from reviewsd.web.clients import ClientNetworks
from reviewsd.websub.requests import HubResponse

METHODS = ("GET", "HEAD", "OPTIONS", "POST")

UNSTORED = HubResponse(
    status=503,
    text="the hub cannot store requests at the moment; please try again later",
    retry_after=60,
)
FAILED = HubResponse(status=500, text="the hub failed; its log says why")


class HubEndpoint(Protocol):
    """The hub, as the route sees it."""

    @property
    def help_text(self) -> str:
        """Instructions for subscribers: lines, the last without its end."""

    async def receive(self, body: bytes, content_type: bytes | None, client: str) -> HubResponse:
        """Answer a request; before a 202 its intent is on disk.

        Args:
            body: The form, as received.
            content_type: None if the field is absent, or came twice.
            client: The client network (H1).

        Raises:
            StoreError: The intent cannot be stored.
        """


class HubRoute:
    """Answers at the hub's address.

    Args:
        hub: Answers the requests.
        responses: Makes the responses.
        tasks: Owns the hub's work; stopped when no request is under way.
        networks: Finds the client network of a request.
    """

    app: Final = PublicApp()
    _log = Logger()

    def __init__(
        self,
        hub: HubEndpoint,
        responses: Responses,
        tasks: TaskSet,
        networks: ClientNetworks,
    ) -> None:
        self._hub = hub
        self._responses = responses
        self._tasks = tasks
        self._networks = networks

    @app.route(urls.HUB, methods=None, body=BodyRule.FORM, cost=0)
    async def answer(self, request: Request) -> Response:
        """Answer a request of any known method (W24)."""
        match request.method:
            case b"POST":
                answer = self._tasks.outcome("answer a hub request", self._ask(request))
                return self._reply(await answer)
            case b"GET" | b"HEAD":
                return self._reply(HubResponse(status=200, text=self._hub.help_text))
            case b"OPTIONS":
                return self._responses.options(METHODS, cors=False)
        text = "this is asked with POST; GET explains how"
        return self._responses.plain(405, text, [(b"Allow", ", ".join(METHODS).encode())])

    async def _ask(self, request: Request) -> HubResponse:
        """Have the hub answer, also if the client leaves meanwhile."""
        types = request.lines(b"content-type")
        client = self._networks.of(request)
        try:
            return await self._hub.receive(
                request.body, types[0] if len(types) == 1 else None, client
            )
        except CancelledError:
            raise
        except StoreError as error:
            self._log.warn("a request to the hub was not stored: {error}", error=error)
            return UNSTORED
        except Exception:  # noqa: BLE001 - logged with its traceback; the client must get an answer
            self._log.failure("answering a request to the hub failed")
            return FAILED

    def _reply(self, answer: HubResponse) -> Response:
        extra = []
        if answer.retry_after is not None:
            extra.append((b"Retry-After", b"%d" % answer.retry_after))
        return self._responses.plain(answer.status, answer.text, extra)
