"""The hub's address: what subscribers POST, carried to the hub and back as plain text (contract 5).

The hub commits what it is asked before it answers. Klein cancels a route when its client leaves, and
that must stop neither the commit nor what follows from it: so the hub's work is a task of its own,
and the route only waits for it. It is no read: answers have no CORS headers (S12).
"""

from typing import Protocol

from twisted.internet.defer import CancelledError
from twisted.logger import Logger

from reviewsd.store.sqlite import StoreError
from reviewsd.runtime.tasks import TaskSet
from reviewsd.http1.request import Asked
from reviewsd.web.clients import ClientNetworks
from reviewsd.http1.responses import Replies, Reply
from reviewsd.websub.form import HubAnswer

METHODS = ("GET", "HEAD", "OPTIONS", "POST")

UNSTORED = HubAnswer(
    status=503,
    text="the hub cannot store requests at the moment; please try again later",
    retry_after=60,
)
FAILED = HubAnswer(status=500, text="the hub failed; its log says why")


class Hub(Protocol):
    """Who answers subscribers."""

    @property
    def help_text(self) -> str:
        """How to subscribe: lines, the last without its end."""

    async def receive(self, body: bytes, content_type: bytes | None, client: str) -> HubAnswer:
        """Answer a request; what it asks for is on disk before a 202.

        Args:
            body: The form, as received.
            content_type: None where the field is absent, or came twice.
            client: The client network (H1).

        Raises:
            StoreError: It cannot be on disk.
        """


class HubRoute:
    """What Klein routes the hub's address to.

    Args:
        hub: Who answers.
        replies: How answers leave.
        tasks: Owns the hub's work; to be stopped when no request is under way any more.
        networks: Tells for whom a request is.
    """

    _log = Logger()

    def __init__(
        self,
        hub: Hub,
        replies: Replies,
        tasks: TaskSet,
        networks: ClientNetworks,
    ) -> None:
        self._hub = hub
        self._replies = replies
        self._tasks = tasks
        self._networks = networks

    async def answer(self, asked: Asked) -> Reply:
        """Answer a request of any known method (W24)."""
        match asked.method:
            case b"POST":
                given = self._tasks.outcome("answer a hub request", self._ask(asked))
                return self._reply(await given)
            case b"GET" | b"HEAD":
                return self._reply(HubAnswer(status=200, text=self._hub.help_text))
            case b"OPTIONS":
                return self._replies.options(METHODS, cors=False)
        text = "this is asked with POST; GET explains how"
        return self._replies.plain(405, text, [(b"Allow", ", ".join(METHODS).encode())])

    async def _ask(self, asked: Asked) -> HubAnswer:
        """Let the hub answer, in its own time; the answer may find nobody left waiting."""
        types = asked.lines(b"content-type")
        client = self._networks.of(asked)
        try:
            return await self._hub.receive(
                asked.body, types[0] if len(types) == 1 else None, client
            )
        except CancelledError:
            raise
        except StoreError as error:
            self._log.warn("a request to the hub was not stored: {error}", error=error)
            return UNSTORED
        except Exception:  # noqa: BLE001 - logged with its traceback; whoever waits must be told
            self._log.failure("answering a request to the hub failed")
            return FAILED

    def _reply(self, answer: HubAnswer) -> Reply:
        extra = []
        if answer.retry_after is not None:
            extra.append((b"Retry-After", b"%d" % answer.retry_after))
        return self._replies.plain(answer.status, answer.text, extra)
