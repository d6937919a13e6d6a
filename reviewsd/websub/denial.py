"""The last word to a subscriber whose subscription the hub ends (WebSub 5.2, H7).

What went wrong on this side (addresses that DNS gave, errors of this host) is for the operator: it is
in the log and in ``reviewsctl subs``. The subscriber is told one of the reasons below, or what the
operator wrote for it.
"""

from itertools import count
from urllib.parse import urlencode

from twisted.logger import Logger

from reviewsd.domain.callback import stored
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.intents import Due
from reviewsd.store.rows import Pair
from reviewsd.websub.context import Client
from reviewsd.websub.outbound.outcomes import Answered
from reviewsd.websub.slots import Slot, Slots

FAILED = "three deliveries in a row failed"
REMOVED = "removed by the operator of the hub"

AT_ONCE = 16
"""Denials under way; more are not sent, since they are a courtesy."""


class Denials:
    """Sends ``hub.mode=denied``, once and at best effort.

    Args:
        client: Sends the requests.
        slots: Those of verifications, which bound what a network may get at a time.
        timeout: Seconds until a callback must have responded.
        base_url: Origin of the topics.
    """

    _log = Logger()

    def __init__(self, client: Client, slots: Slots, timeout: float, base_url: str) -> None:
        self._client = client
        self._slots = slots
        self._timeout = timeout
        self._base_url = base_url
        self._underway = 0
        self._numbers = count(1)
        self._tasks = TaskSet()

    def send(self, pair: Pair, topic: str, reason: str) -> None:
        """Tell the callback that its subscription has ended, and why.

        Args:
            pair: What it was.
            topic: Its path.
            reason: One of this module's, or the operator's words for the subscriber.
        """
        if self._underway < AT_ONCE:
            due = Due(id=-next(self._numbers), host=pair.host, active=True)
            slot = self._slots.try_enter(due)
            if slot is not None:
                self._underway += 1
                self._slots.begin(slot)
                self._tasks.start("denial", self._send(slot, pair, topic, reason))

    async def stop(self) -> None:
        """Send no more."""
        await self._tasks.stop()

    async def _send(self, slot: Slot, pair: Pair, topic: str, reason: str) -> None:
        parameters = {
            "hub.mode": "denied",
            "hub.topic": self._base_url + topic,
            "hub.reason": reason,
        }
        callback = stored(pair.callback).adding(urlencode(parameters))
        try:
            answer = await self._client.verify(callback, timeout=self._timeout, slot=slot)
        finally:
            self._underway -= 1
            self._slots.leave(slot)
        heard = isinstance(answer, Answered)
        self._log.info(
            "{callback_host} was told that its subscription to {topic} has ended: {heard}",
            callback_host=pair.host,
            topic=topic,
            heard="it answered" if heard else "it did not answer",
        )
