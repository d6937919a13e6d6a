"""The last word to a subscriber whose subscription the hub ends (WebSub 5.2, H7).

What went wrong on this side (addresses that DNS gave, errors of this host) is for the operator: it is
in the log and in ``reviewsctl subs``. The subscriber is told one of the reasons below, or what the
operator wrote for it.
"""

from urllib.parse import urlencode

from twisted.logger import Logger

from reviewsd.domain.callback import stored
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.rows import Pair
from reviewsd.websub.context import Reach
from reviewsd.websub.outbound.outcomes import Answered

FAILED = "three deliveries in a row failed"
REMOVED = "removed by the operator of the hub"

AT_ONCE = 16
"""Denials under way; more are not sent, since they are a courtesy."""


class Denials:
    """Sends ``hub.mode=denied``, once and at best effort.

    Args:
        reach: The way to callbacks.
        base_url: Origin of the topics.
    """

    _log = Logger()

    def __init__(self, reach: Reach, base_url: str) -> None:
        self._reach = reach
        self._base_url = base_url
        self._underway = 0
        self._tasks = TaskSet()

    def send(self, pair: Pair, topic: str, reason: str) -> None:
        """Tell the callback that its subscription has ended, and why.

        Args:
            pair: What it was.
            topic: Its path.
            reason: One of this module's, or the operator's words for the subscriber.
        """
        if self._underway < AT_ONCE:
            self._underway += 1
            self._tasks.start("denial", self._send(pair, topic, reason))

    async def stop(self) -> None:
        """Send no more."""
        await self._tasks.stop()

    async def _send(self, pair: Pair, topic: str, reason: str) -> None:
        parameters = {
            "hub.mode": "denied",
            "hub.topic": self._base_url + topic,
            "hub.reason": reason,
        }
        callback = stored(pair.callback).adding(urlencode(parameters))
        try:
            answer = await self._reach.ask(callback)
        finally:
            self._underway -= 1
        heard = isinstance(answer, Answered)
        self._log.info(
            "{callback_host} was told that its subscription to {topic} has ended: {heard}",
            callback_host=pair.host,
            topic=topic,
            heard="it answered" if heard else "it did not answer",
        )
