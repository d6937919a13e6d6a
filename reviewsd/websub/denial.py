"""Denials: the GET with ``hub.mode=denied`` that reports the end of a subscription (WebSub 5.2, H7).

Internal details such as addresses and errors of this host are only for the operator, in the log and in
``reviewsctl subs``. The subscriber receives one of the reasons below, or a reason that the operator gave.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlencode

from twisted.logger import Logger

from reviewsd.domain.callback import stored
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.rows import Due, Pair
from reviewsd.websub.outbound.client import CallbackClient, CallbackRequest
from reviewsd.websub.outbound.response_parser import NetworkFullError, NoResponseError
from reviewsd.websub.slots import Slots
from reviewsd.websub.verification import TIMEOUT

FAILED = "three deliveries in a row failed"
REMOVED = "removed by the operator of the hub"

MAX_RUNNING = 16
"""Most denials at the same time; a further one is not sent, because it is optional."""


@dataclass(slots=True, eq=False, kw_only=True)
class Denials:
    """Sends denials, without retries."""

    _log = Logger()

    client: CallbackClient
    slots: Slots
    base_url: str
    _ids: Iterator[int] = field(default_factory=count, init=False)
    _tasks: TaskSet = field(default_factory=TaskSet, init=False)

    def send(self, pair: Pair, topic: str, reason: str) -> None:
        """Notify a callback that its subscription has ended.

        Args:
            pair: The subscription.
            topic: The path of its topic.
            reason: One of this module, or the operator's.
        """
        self._tasks.start("denial", self._send(pair, topic, reason))

    async def stop(self) -> None:
        """Cancel all denials."""
        await self._tasks.stop()
        self.slots.stop()

    async def _send(self, pair: Pair, topic: str, reason: str) -> None:
        due = Due(id=next(self._ids), host=pair.host, active=True)
        slot = self.slots.try_enter(due) if self.slots.has_place else None
        if slot is None:
            return
        parameters = {
            "hub.mode": "denied",
            "hub.topic": self.base_url + topic,
            "hub.reason": reason,
        }
        callback = stored(pair.callback).adding(urlencode(parameters))
        self.slots.begin(slot)
        try:
            request = CallbackRequest(method="GET", callback=callback, slot=slot)
            await self.client.send(request, TIMEOUT)
            answered = True
        except (NoResponseError, NetworkFullError):
            answered = False
        finally:
            self.slots.leave(slot)
        self._log.info(
            "notified {callback_host} that its subscription to {topic} has ended: {result}",
            callback_host=pair.host,
            topic=topic,
            result="it answered" if answered else "it did not answer",
        )
