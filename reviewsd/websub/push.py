"""The progress of a push: which subscriptions still wait for their attempt."""

from collections.abc import Callable, Mapping, Sequence

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from reviewsd.api.jobs import PushResult, Step
from reviewsd.domain.subscription import Delivered
from reviewsd.store.deliveries import DeliveryOutcome, EndedSubscription


class Push:
    """A push under way: the subscriptions that wait for an attempt, and the outcomes so far.

    Attributes:
        waiting: Ids of the subscriptions that wait.
        since: Time of its start, milliseconds since 1970 UTC.

    Args:
        ids: Ids of all subscriptions.
        since: As above.
        progress: Called with each step.
    """

    def __init__(self, ids: Sequence[int], since: int, progress: Callable[[Step], None]) -> None:
        self.waiting = set(ids)
        self.since = since
        self._total = len(ids)
        self._delivered = self._failed = self._removed = 0
        self._progress = progress
        self._done: Deferred[None] = Deferred()

    @property
    def result(self) -> PushResult:
        """The numbers so far."""
        return PushResult(
            total=self._total,
            delivered=self._delivered,
            failed=self._failed,
            removed=self._removed,
        )

    def settle(
        self, outcomes: Sequence[DeliveryOutcome], ended: Sequence[EndedSubscription]
    ) -> None:
        """Count outcomes of this node."""
        removed = {id(subscription.pair) for subscription in ended}
        waiting_before = len(self.waiting)
        for outcome in outcomes:
            if outcome.event is None or outcome.claim.id not in self.waiting:
                continue
            self.waiting.remove(outcome.claim.id)
            if isinstance(outcome.event, Delivered):
                self._delivered += 1
            elif id(outcome.claim.pair) in removed:
                self._removed += 1
            else:
                self._failed += 1
        if len(self.waiting) != waiting_before:
            self.report()

    def compare(self, attempted: Mapping[int, bool | None]) -> None:
        """Count subscriptions that are gone, and those that another node attempted.

        Args:
            attempted: Whether the attempt since the start succeeded, by id; None without an attempt.
        """
        for number in sorted(self.waiting):
            if number not in attempted:
                self._removed += 1
            elif attempted[number] is None:
                continue
            elif attempted[number]:
                self._delivered += 1
            else:
                self._failed += 1
            self.waiting.remove(number)
        self.report()

    def report(self) -> None:
        """Report the progress."""
        done = self._total - len(self.waiting)
        self._progress(Step("pushing", done, self._total, self._failed + self._removed))
        if not self.waiting and not self._done.called:
            self._done.callback(None)

    async def wait(self, clock: IReactorTime, seconds: float) -> None:
        """Wait until all have been attempted, up to a time."""
        if self._done.called:
            self._done = Deferred()
        await self._done.addTimeout(seconds, clock, lambda *_: None)
