"""Denials: the GET with ``hub.mode=denied`` that ends a subscription (WebSub 5.2, H7).

Details of this side (addresses from DNS, errors of this host) are for the operator, in the log and in
``reviewsctl subs``. The subscriber receives one of the reasons below, or the operator's words for it.
"""

from itertools import count
from urllib.parse import urlencode

from twisted.logger import Logger

from reviewsd.domain.callback import stored
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.intents import Due
from reviewsd.store.rows import Pair
from reviewsd.websub.outbound.client import CallbackClient, Payload
from reviewsd.websub.outbound.errors import NetworkFullError, NoResponseError
from reviewsd.websub.slots import Slots

FAILED = "three deliveries in a row failed"
REMOVED = "removed by the operator of the hub"

MAX_RUNNING = 16
"""Places of denials. Where none is free a denial is not sent, since it is a courtesy."""


class Denials:
    """Sends denials, each once and at best effort.

    Args:
        client: Sends the requests.
        slots: Limit what a host and a network receive.
        base_url: Origin of the topics.
        timeout: Seconds in which a callback must respond.
    """

    _log = Logger()

    def __init__(self, client: CallbackClient, slots: Slots, base_url: str, timeout: float) -> None:
        self._client = client
        self._slots = slots
        self._base_url = base_url
        self._timeout = timeout
        self._ids = count(1)
        self._tasks = TaskSet()

    def send(self, pair: Pair, topic: str, reason: str) -> None:
        """Notify a callback that its subscription has ended.

        Args:
            pair: The subscription.
            topic: Its path.
            reason: One of this module's, or the operator's words for the subscriber.
        """
        self._tasks.start("denial", self._send(pair, topic, reason))

    async def stop(self) -> None:
        """Cancel all denials."""
        await self._tasks.stop()
        self._slots.stop()

    async def _send(self, pair: Pair, topic: str, reason: str) -> None:
        due = Due(id=next(self._ids), host=pair.host, active=True)
        slot = self._slots.try_enter(due) if self._slots.has_place else None
        if slot is None:
            return
        parameters = {
            "hub.mode": "denied",
            "hub.topic": self._base_url + topic,
            "hub.reason": reason,
        }
        url = stored(pair.callback).adding(urlencode(parameters)).url
        self._slots.begin(slot)
        try:
            await self._client.send("GET", url, Payload(slot), self._timeout)
            answered = True
        except (NoResponseError, NetworkFullError):
            answered = False
        finally:
            self._slots.leave(slot)
        self._log.info(
            "notified {callback_host} that its subscription to {topic} has ended: {result}",
            callback_host=pair.host,
            topic=topic,
            result="it answered" if answered else "it did not answer",
        )
